import type { Why } from '../failure.ts';
import type { Cursor, KnownBlock, ListOrder, OrderKey, Scope } from '../lists/operation.ts';
import { timedAbove } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import {
  firstReported,
  goesBackTo,
  judgeOrder,
  type PageOrder,
  reportedPlaces,
  timedPlaces,
  withoutPlace,
} from './order.ts';
import type { Envelope, PageReader, ServedPage, Step } from './request.ts';

/** What ends a walk before the list does; also the reason that such a walk keeps. */
const bounds = [
  'until',
  'floor',
  'since',
  'known',
  'max-pages',
  'misplaced-entry',
  'empty-entry',
  'cursor-mismatch',
] as const;
type Bound = (typeof bounds)[number];

/** Why a walk reads no further page. */
export type WalkEnd =
  | { readonly is: 'end' }
  | { readonly is: 'bound'; readonly bound: Bound }
  | ({ readonly is: 'failed' } & Why);

/**
 * How many empty pages in a row a walk follows. An empty page with a cursor is legal, so a walk
 * goes on, but a service that hands out nothing else must not be followed for ever.
 */
const emptyPagesLimit = 100;

export const cursorLoop: WalkEnd = {
  is: 'failed',
  failure: 'cursor-loop',
  reason: 'cursor loop',
};

/** The bound that a finished walk's reason names; null where it names none. */
const boundOf = (reason: string | null): Bound | null =>
  bounds.find((bound) => bound === reason) ?? null;

/** What the decision about the next page rests on. */
export interface Progress {
  readonly cursor_in: Cursor | null;
  readonly cursor_out: Cursor | null;
  /** Why the next cursor could not be read, if it could not. */
  readonly unreadable: string | null;
  /** Pages of this walk, this one included. */
  readonly pages: number;
  /** Empty pages in a row, this one included. */
  readonly emptyRun: number;
  /** The time to which the page certainly goes back, Unix time in ms; null: not known. */
  readonly oldestMs: number | null;
  /** The block that the page certainly reaches. */
  readonly lowest: number | null;
  /** The block that the walk goes past before it ends; null where it goes to the end. */
  readonly floor: number | null;
  /** Whether the page shows the block below which all is known, with the hash that it had. */
  readonly showsKnown: boolean;
}

/**
 * Whether a walk goes on after a page, and if not, why. Pure. A cursor that was used earlier in
 * the walk than on this page is found by the ledger when the page is committed.
 */
export function judgeProgress(scope: Scope, progress: Progress): WalkEnd | null {
  const { cursor_in, cursor_out, unreadable, pages, emptyRun, oldestMs, lowest, floor } = progress;
  if (unreadable !== null) {
    return { is: 'failed', failure: null, reason: `cursor unreadable: ${unreadable}` };
  }
  if (cursor_out === null) return { is: 'end' };
  if (sameCursor(cursor_in, cursor_out)) return cursorLoop;
  if (emptyRun >= emptyPagesLimit) {
    return { is: 'failed', failure: null, reason: `${emptyPagesLimit} empty pages in a row` };
  }
  // Before the floor: where the pages fall as they did, nothing is read twice.
  if (scope.until !== undefined && sameCursor(cursor_out, scope.until)) {
    return { is: 'bound', bound: 'until' };
  }
  // Past the floor, not at it: the floor's block may go on on the next page.
  if (floor !== null && lowest !== null && lowest < floor) {
    return { is: 'bound', bound: 'floor' };
  }
  if (scope.since !== undefined && oldestMs !== null && oldestMs < Date.parse(scope.since)) {
    return { is: 'bound', bound: 'since' };
  }
  if (progress.showsKnown) return { is: 'bound', bound: 'known' };
  if (scope.max_pages !== undefined && pages >= scope.max_pages) {
    return { is: 'bound', bound: 'max-pages' };
  }
  return null;
}

/** One text for one cursor, whatever the order of its fields. */
export function cursorText(cursor: Cursor | null): string {
  return JSON.stringify(Object.entries(cursor ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sameCursor(a: Cursor | null, b: Cursor | null): boolean {
  return cursorText(a) === cursorText(b);
}

/** A page as the ledger knows it. */
interface LedgerPage {
  readonly sequence: number;
  readonly cursor_out: Cursor | null;
}

/**
 * How a stored walk ended with one of its pages; null where it went on, or has not ended. A walk that
 * reached the list's end keeps what its operation said of it as its reason: that is no bound.
 */
export function endAfter(walk: WalkRow, page: LedgerPage): WalkEnd | null {
  if (page.sequence !== walk.pages - 1 || walk.state === 'running') return null;
  if (walk.state !== 'finished') {
    return { is: 'failed', failure: walk.failure, reason: walk.reason ?? '' };
  }
  const bound = boundOf(walk.reason);
  if (bound !== null) return { is: 'bound', bound };
  if (page.cursor_out === null) return { is: 'end' };
  throw new Error(`walk ${walk.id} ended for a reason unknown to this version`);
}

/**
 * The item that a cursor names as the first of its page: the service listed it there, or it is stored. Null
 * if the cursor names none, cannot be read, or is a synthetic one above all items of a block.
 */
export function namedBy(order: ListOrder | null, cursor: Cursor | null): OrderKey | null {
  if (order?.names !== 'first' || cursor === null) return null;
  const named = order.position(cursor);
  return named === null || named.key === order.topOf(named.height).key ? null : named;
}

/** A page as it came, and what it says of its walk. */
export interface JudgedPage extends ServedPage {
  /** Null for a list without an order. */
  readonly order: PageOrder | null;
  /** Empty pages in a row, this one included. */
  readonly emptyRun: number;
  readonly end: WalkEnd | null;
}

/** Judges a page: which of its items stand where they may, whether it is the requested one, and whether its walk ends. */
export async function judgePage(
  page: ServedPage,
  walk: WalkRow,
  reader: PageReader,
  step: Step,
): Promise<JudgedPage> {
  const { facts, envelope } = page;
  const list = reader.operation.order;
  const order = orderOf(list, envelope, step);
  const emptyRun = facts.items === 0 ? step.emptyRun + 1 : 0;
  const end =
    judgeArrival(walk.scope, step, order, facts.items) ??
    judgeProgress(walk.scope, {
      cursor_in: facts.cursor_in,
      cursor_out: facts.cursor_out,
      unreadable: envelope.unreadable,
      pages: step.sequence + 1,
      emptyRun,
      oldestMs: await oldestOf(walk, reader, step, order),
      lowest: lowestOf(order, list, facts.cursor_out),
      floor: reader.floor(),
      showsKnown: showsBlock(list, envelope.items, walk.scope.known),
    });
  return { ...page, order, emptyRun, end };
}

/**
 * A page of which nothing shows that it is of this list: it covers nothing, and its walk ends with it, because
 * its cursor leads on in the other list.
 */
export function distrust(page: JudgedPage): JudgedPage {
  if (page.order === null) return page;
  const { end } = page;
  const isOver = end?.is === 'failed' || (end?.is === 'bound' && end.bound === 'misplaced-entry');
  return {
    ...page,
    order: withoutPlace(page.order),
    end: isOver ? end : { is: 'bound', bound: 'cursor-mismatch' },
  };
}

function orderOf(order: ListOrder | null, { items, next }: Envelope, step: Step): PageOrder | null {
  return order === null
    ? null
    : judgeOrder(reportedPlaces(order, items), {
        above: step.above,
        entry: step.expected ?? (step.cursor === null ? null : order.position(step.cursor)),
        isEntryAbove: order.names === 'above',
        next: next === null ? null : order.position(next),
      });
}

/**
 * Whether a walk that enters the list at a synthetic cursor has not arrived there. Where nothing is listed
 * from there on it is no failure, unless an item is known to stand there.
 */
function judgeArrival(
  { entry, above }: Scope,
  { sequence }: Step,
  order: PageOrder | null,
  items: number,
): WalkEnd | null {
  if (entry === undefined || sequence > 0 || order === null) return null;
  if (items === 0 && above !== undefined) return { is: 'bound', bound: 'empty-entry' };
  return order.trusted[0]?.index === 0 ? null : { is: 'bound', bound: 'misplaced-entry' };
}

/**
 * How far back a page certainly goes, if the walk is to end by it. Where no page of the walk is known
 * above it, it is held against what is stored there.
 */
async function oldestOf(
  { chain_id, scope: { since } }: WalkRow,
  { db, operation: { table, order: list }, pageSize }: PageReader,
  { timed }: Step,
  order: PageOrder | null,
): Promise<number | null> {
  const [first] = order?.trusted ?? [];
  if (since === undefined || list === null || first === undefined) return null;
  const page = timedPlaces(order);
  if (timed !== null && timed.length > 0) return goesBackTo(timed, page);
  const sinceMs = Date.parse(since);
  if (!page.some(({ timeMs }) => timeMs < sinceMs)) return null;
  return goesBackTo(await timedAbove(db, { table, order: list }, chain_id, first, pageSize), page);
}

/**
 * How low a page certainly reaches. One item does not say it: its number must be confirmed by the next
 * page's position or by the item above it.
 */
export function lowestOf(
  judged: PageOrder | null,
  order: ListOrder | null,
  next: Cursor | null,
): number | null {
  const isNextKnown = next !== null && order?.position(next) !== null;
  return judged?.trusted.at(isNextKnown && judged.leadsOn ? -1 : -2)?.height ?? null;
}

/** Whether a block stands among a page's items, with the hash that it was seen with. */
function showsBlock(
  order: ListOrder | null,
  items: readonly unknown[],
  block: KnownBlock | undefined,
): boolean {
  if (order === null || block === undefined) return false;
  return items.some((item) => {
    const hash = firstReported(item, order.key[0]?.names ?? []);
    return (
      firstReported(item, order.fields.height) === block.height &&
      typeof hash === 'string' &&
      hash.toLowerCase() === block.hash
    );
  });
}

/** Whether a walk ends with a page because it is not the requested one: it says nothing of the list. */
export const missedEntry = (read: { readonly end: WalkEnd | null } | undefined): boolean =>
  read?.end?.is === 'bound' && read.end.bound === 'misplaced-entry';
