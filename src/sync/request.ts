import { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import type { FetchedPage } from '../explorer/fetcher.ts';
import { excerpt } from '../explorer/response.ts';
import type {
  Cursor,
  KnownBlock,
  ListOrder,
  Operation,
  OrderKey,
  Scope,
} from '../lists/operation.ts';
import { timedAbove } from '../lists/positions.ts';
import type { Lane, WalkRow } from '../lists/tables.ts';
import { createRedactor } from '../redact.ts';
import type { ArchiveMode } from './archive.ts';
import { digest, type PageFacts } from './normalise.ts';
import {
  firstReported,
  goesBackTo,
  judgeOrder,
  type PageOrder,
  reportedPlaces,
  type TimedPlace,
  timedPlaces,
  withoutPlace,
} from './order.ts';
import { judgeProgress, type WalkEnd } from './progress.ts';

/** How the walk asks for a page: for which lane, path and declared query parameters, never a key. */
export type FetchPage = (
  request: {
    readonly chainId: number;
    readonly operation: string;
    readonly lane: Lane;
    readonly path: string;
    readonly query: Cursor;
    /** A re-check: it waits a moment, and uses a connection of its own. */
    readonly isRecheck?: boolean;
  },
  signal: AbortSignal,
) => Promise<FetchedPage>;

/**
 * The item that a cursor names as the first of its page: the service listed it there, or it is stored. Null
 * if the cursor names none, cannot be read, or is a synthetic one above all items of a block.
 */
export function namedBy(order: ListOrder | null, cursor: Cursor | null): OrderKey | null {
  if (order?.names !== 'first' || cursor === null) return null;
  const named = order.position(cursor);
  return named === null || named.key === order.topOf(named.height).key ? null : named;
}

/** Says before each request whether the slice may still make it. */
export interface SliceBudget {
  takePage(): boolean;
}

export interface PageReader {
  readonly db: Database;
  readonly operation: Operation;
  readonly fetchPage: FetchPage;
  readonly pageSize: number;
  readonly archive: ArchiveMode;
  readonly budget: SliceBudget;
  /** The walk's floor as it stands now: one that takes over a part of the walk raises it. */
  readonly floor: () => number | null;
}

/** Where a walk's next page is read. */
export interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  /** The last item that stands in order, on the page before; null at the start and behind a cut. */
  readonly above: OrderKey | null;
  /** Behind empty pages the position that the first of them was requested at: the list goes on there. */
  readonly expected: OrderKey | null;
  /** The last items before that report their time, a page of them at most; null: not known yet. */
  readonly timed: readonly TimedPlace[] | null;
}

/** A page as it came, and what it says of its walk. */
export interface JudgedPage {
  readonly facts: PageFacts;
  readonly envelope: Envelope;
  readonly body: Buffer;
  /** Null for a list without an order. */
  readonly order: PageOrder | null;
  readonly emptyRun: number;
  readonly end: WalkEnd | null;
}

/** Requests one page of a walk, and judges what it says of the walk. */
export async function requestPage(
  walk: WalkRow,
  reader: PageReader,
  step: Step,
  signal: AbortSignal,
  isDoubt = false,
): Promise<JudgedPage> {
  const { operation, fetchPage, pageSize } = reader;
  const request = operation.request(walk.scope, step.cursor, pageSize);
  const answer = await fetchPage(
    {
      chainId: walk.chain_id,
      operation: walk.operation,
      lane: walk.lane,
      ...request,
      isRecheck: isDoubt,
    },
    signal,
  );
  const envelope = readEnvelope(operation, answer.json);
  const facts: PageFacts = {
    page_id: answer.page_id,
    sequence: step.sequence,
    cursor_in: step.cursor,
    cursor_out: envelope.next,
    items: envelope.items.length,
    bytes: answer.bytes,
    body_hash: digest(answer.body),
    attempts: answer.attempts,
    latency_ms: Math.round(answer.latencyMs),
    fetched_at: answer.at,
  };
  const order = orderOf(operation.order, envelope, step);
  const emptyRun = envelope.items.length === 0 ? step.emptyRun + 1 : 0;
  const page = { facts, envelope, body: answer.body, order, emptyRun };
  const arrived = judgeArrival(walk.scope, step, order, facts.items);
  return { ...page, end: arrived ?? (await endWith(page, walk, reader, step)) };
}

/** Whether a walk ends with a page that is at the requested position. */
async function endWith(
  { facts, envelope, order, emptyRun }: Omit<JudgedPage, 'end'>,
  walk: WalkRow,
  reader: PageReader,
  step: Step,
): Promise<WalkEnd | null> {
  const { operation, floor } = reader;
  return judgeProgress(walk.scope, {
    cursor_in: facts.cursor_in,
    cursor_out: facts.cursor_out,
    unreadable: envelope.unreadable,
    pages: step.sequence + 1,
    emptyRun,
    oldestMs: await oldestOf(walk, reader, step, order),
    lowest: lowestOf(order, operation.order, facts.cursor_out),
    floor: floor(),
    showsKnown: showsBlock(operation.order, envelope.items, walk.scope.known),
  });
}

/**
 * A page of which nothing shows that it is of this list: it covers nothing, and its walk ends with it, because
 * its cursor leads on in the other list.
 */
export function distrust(page: JudgedPage): JudgedPage {
  if (page.order === null) return page;
  const { end } = page;
  const isOver = end?.is === 'failed' || (end?.is === 'bound' && end.bound === 'astray');
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
 * Whether a walk that enters the list at a made position has not arrived there. Where nothing is listed
 * from there on it is no failure, unless an item is known to stand there.
 */
function judgeArrival(
  { entry, above }: Scope,
  { sequence }: Step,
  order: PageOrder | null,
  items: number,
): WalkEnd | null {
  if (entry === undefined || sequence > 0 || order === null) return null;
  if (items === 0 && above !== undefined) return { is: 'bound', bound: 'nothing' };
  return order.trusted[0]?.index === 0 ? null : { is: 'bound', bound: 'astray' };
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
function lowestOf(
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
    const hash = firstReported(item, order.fields.key);
    return (
      firstReported(item, order.fields.height) === block.height &&
      typeof hash === 'string' &&
      hash.toLowerCase() === block.hash
    );
  });
}

/** A page as served: its items untouched, and the declared fields of its next cursor. */
export interface Envelope {
  readonly items: readonly unknown[];
  /** The next page's cursor; null where the list ends, or where `unreadable` says why not. */
  readonly next: Cursor | null;
  /** What is wrong with a cursor that is there but is none of this operation's. */
  readonly unreadable: string | null;
}

/** The spec's table 2.1. `next_page_params` null or `{}` means the end; a page without it is malformed. */
const envelope = z.looseObject({
  items: z.array(z.unknown()),
  next_page_params: z.looseObject({}).nullable(),
});

/** The body of an answer is no page of this operation. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';
}

/**
 * Reads a page's envelope. Fields of `next_page_params` that the operation does not declare, such
 * as an echoed `key`, are left behind here and go no further. A cursor that can't be read does not
 * make the page's items worthless: they are kept, and the walk says that it could not go on.
 *
 * @throws EnvelopeError naming the field that is wrong, with the beginning of the body as evidence
 */
function readEnvelope(operation: Operation, body: unknown): Envelope {
  const page = envelope.safeParse(body);
  if (!page.success)
    throw new EnvelopeError(`${describe(page.error)}; it begins ${evidence(body)}`);
  const { items, next_page_params: next } = page.data;
  if (next === null || Object.keys(next).length === 0) {
    return { items, next: null, unreadable: null };
  }
  const cursor = operation.cursor.safeParse(next);
  return cursor.success
    ? { items, next: cursor.data, unreadable: null }
    : { items, next: null, unreadable: describe(cursor.error) };
}

/** The start of what came instead of a page. The keys of ours are masked in it since it arrived. */
const evidence = (body: unknown) => excerpt(JSON.stringify(body), createRedactor([]));

const describe = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');
