import type { Why } from '../failure.ts';
import type { Cursor, ListOrder, Scope } from '../lists/operation.ts';
import { namedBy } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import { claimedBy, joins, type PageOrder, topOf } from './order.ts';
import type { Envelope, NormalisedPage, PageFacts } from './page.ts';

/** What ends a walk before the list does; also the reason that such a walk keeps. */
type Bound =
  | 'until'
  | 'floor'
  | 'since'
  | 'known'
  | 'max-pages'
  | 'misplaced-entry'
  | 'empty-entry'
  | 'cursor-mismatch';

/** Why a walk reads no further page. */
export type WalkEnd =
  | { readonly is: 'end' }
  | { readonly is: 'bound'; readonly bound: Bound }
  | ({ readonly is: 'failed' } & Why);

export const boundBy = (bound: Bound): WalkEnd => ({ is: 'bound', bound });

const failedBy = (reason: string): WalkEnd => ({ is: 'failed', failure: null, reason });

/** A page ready to be written, and whether the walk ends with it. */
export interface ReadPage {
  readonly page: NormalisedPage;
  readonly end: WalkEnd | null;
  readonly emptyRun: number;
  /** Whether all of it is older than `since`: the walk's next page then may end it. */
  readonly isOlder: boolean;
  /** The page's body as it is to be archived; null where it is not. */
  readonly body: Buffer | null;
}

/** An empty page with a cursor is legal, but a service that hands out nothing else must not be followed for ever. */
const emptyPagesLimit = 100;

export const cursorLoop: WalkEnd = { is: 'failed', failure: 'cursor-loop', reason: 'cursor loop' };

/** What the decision about the next page rests on. */
export interface Progress
  extends Pick<PageFacts, 'cursor_in' | 'cursor_out'>, Pick<Envelope, 'unreadable'> {
  /** Pages of this walk, this one included. */
  readonly pages: number;
  /** Empty pages in a row, this one included. */
  readonly emptyRun: number;
  /** Whether this page and the one before it are older than `since`, all of them. */
  readonly isPastSince: boolean;
  /** The block that the page certainly reaches. */
  readonly lowest: number | null;
  /** The block that the walk goes past before it ends; null where it goes to the end. */
  readonly floor: number | null;
  /** Whether the page shows the block below which all is known, with the hash that it had. */
  readonly showsKnown: boolean;
}

/** Whether a walk goes on after a page. The ledger finds a cursor that was used on an earlier page. Pure. */
export function judgeProgress(scope: Scope, progress: Progress): WalkEnd | null {
  const { cursor_in, cursor_out, unreadable, pages, emptyRun, lowest, floor } = progress;
  if (unreadable !== null) return failedBy(`cursor unreadable: ${unreadable}`);
  // Past the floor, not at it: the floor's block may go on on the next page.
  const isPastFloor = floor !== null && lowest !== null && lowest < floor;
  if (cursor_out === null) return isPastFloor && scope.again ? boundBy('floor') : { is: 'end' };
  if (sameCursor(cursor_in, cursor_out)) return cursorLoop;
  if (emptyRun >= emptyPagesLimit) return failedBy(`${emptyPagesLimit} empty pages in a row`);
  // Before the floor: where the pages fall as they did, nothing is read twice.
  if (scope.until !== undefined && sameCursor(cursor_out, scope.until)) return boundBy('until');
  if (isPastFloor) return boundBy('floor');
  if (progress.isPastSince) return boundBy('since');
  if (progress.showsKnown) return boundBy('known');
  return scope.max_pages !== undefined && pages >= scope.max_pages ? boundBy('max-pages') : null;
}

/** One text for one cursor, whatever the order of its fields. */
export function cursorText(cursor: Cursor | null): string {
  return JSON.stringify(Object.entries(cursor ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const sameCursor = (a: Cursor | null, b: Cursor | null) => cursorText(a) === cursorText(b);

/** What kinds of list know of a walk. */
export const identityOf = ({ id: walk_id, run_id, chain_id, feed, scope }: WalkRow) => ({
  walk_id,
  run_id,
  chain_id,
  feed,
  scope,
});

/** How low a page certainly reaches: the next page's position or the item above must confirm a number. */
export const lowestOf = (order: PageOrder | null): number | null =>
  order?.inOrder.at(order.borders.next !== null && order.leadsOn ? -1 : -2)?.height ?? null;

/** Whether a walk ends because it missed its synthetic cursor: its page shows nothing of the list. */
export const missedEntry = (read: { readonly end: WalkEnd | null } | undefined): boolean =>
  read?.end?.is === 'bound' && read.end.bound === 'misplaced-entry';

/** Blocks of which all items are covered to be here: from `from` to `to`, both included. */
interface CoveredRange {
  readonly from: number;
  readonly to: number;
}

/** What a walk's pages cover so far; kept with its checkpoint. */
export interface CoverageState {
  /** The highest block of the range that goes on with the next page; null behind a cut. */
  readonly rangeTop: number | null;
  /** What the last pages covered, to be united with what was covered before. */
  readonly covered: readonly CoveredRange[];
  /** Places at which the pages cover nothing, so that the range ended. */
  readonly cuts: number;
}

/** What of a page decides its coverage. */
type CoveredPage = Pick<NormalisedPage, 'order' | 'items'> &
  Partial<Pick<NormalisedPage, 'cursor_in'>>;

/** Down to where a walk that meets the list's end concludes: below the stop height of one that reads again, others read. */
export const concludesTo = ({ scope, floor }: Pick<WalkRow, 'scope' | 'floor'>): number =>
  scope.again === true ? (floor ?? 0) : 0;

/** What pages add to their walk's coverage, if its list has an order that gives coverage. */
export function coverPages(
  order: ListOrder | null,
  walk: Pick<WalkRow, 'range_top' | 'cuts' | 'empty_run' | 'floor' | 'scope'>,
  read: Readonly<{
    pages: readonly CoveredPage[];
    end: WalkEnd | null;
  }>,
): CoverageState {
  let coverage: CoverageState = { rangeTop: walk.range_top, covered: [], cuts: walk.cuts };
  if (order?.givesCoverage !== true || missedEntry(read)) return coverage;
  for (const page of read.pages) {
    if (page.order !== null) coverage = coverPage(coverage, page.order, page.items);
  }
  const last = read.pages.at(-1);
  if (read.end?.is !== 'end' || last === undefined) return coverage;
  const emptyRun =
    read.pages.at(-2)?.items === 0 ? 1 : read.pages.length === 1 ? walk.empty_run : 0;
  if (skipsUnknown(order, last, emptyRun)) {
    // A cut also if no range leads there, or the end would remove all below the page before.
    const { cuts } = cutRange(coverage);
    return { ...coverage, rangeTop: null, cuts: Math.max(1, cuts) };
  }
  return coverEnd(coverage, last.order ? claimedBy(last.order) : [], concludesTo(walk));
}

/** Whether an empty end may lie far below the page before: an empty page is between, or its cursor names no item of either. */
function skipsUnknown(
  list: ListOrder,
  { items, order, cursor_in = null }: CoveredPage,
  emptyRun: number,
): boolean {
  if (items > 0 || cursor_in === null) return false;
  if (list.names === 'above') return order !== null && !joins(order);
  return emptyRun > 0 || namedBy(list, cursor_in) === null;
}

const cutRange = (before: CoverageState): CoverageState =>
  before.rangeTop === null ? before : { ...before, rangeTop: null, cuts: before.cuts + 1 };

/**
 * Extends coverage by one page: pages that follow each other verify the blocks between their ends, both excluded. Disorder
 * ends the range. A block that a misplaced item names stays open: the item may belong there. Pure.
 */
export function coverPage(before: CoverageState, order: PageOrder, items: number): CoverageState {
  const { inOrder, borders } = order;
  // An empty page skips nothing if the next one begins with the item that was requested, or if its cursor names the item above.
  const mayFollow = borders.entry !== null && (!borders.isEntryAbove || joins(order));
  if (items === 0 && mayFollow) return before;
  if (inOrder.length === 0) {
    // The next page begins a new range; without one nothing is cut.
    return items > 0 ? { ...before, rangeTop: null, cuts: before.cuts + 1 } : cutRange(before);
  }
  const claimed = claimedBy(order);
  const goesOnHere = before.rangeTop !== null && joins(order);
  let cuts = before.cuts + (before.rangeTop === null || goesOnHere ? 0 : 1);
  let top = goesOnHere ? before.rangeTop : topOf(order);
  const covered = [...before.covered];
  for (const [at, place] of inOrder.entries()) {
    const previous = inOrder[at - 1];
    if (isBroken(order, previous?.index ?? -1, place.index) && (at > 0 || goesOnHere)) {
      addRange(covered, [top, previous?.height ?? null], claimed);
      top = place.height;
      cuts += 1;
    }
  }
  const last = inOrder.at(-1);
  const bottom = borders.next !== null ? last : inOrder.at(-2);
  top = addRange(covered, [top, bottom?.height ?? null], claimed);
  const goesOn = order.leadsOn && !isBroken(order, last?.index ?? -1, Infinity);
  return { rangeTop: goesOn ? top : null, covered, cuts: cuts + (goesOn ? 0 : 1) };
}

/** Coverage where the list ends, if the end is believed: nothing is below, down to `floor`, but what its page claims. */
export function coverEnd(
  before: CoverageState,
  claimed: readonly number[],
  floor: number,
): CoverageState {
  const covered = [...before.covered];
  addRange(covered, [before.rangeTop, floor - 1], claimed);
  return { ...before, covered };
}

const isBroken = ({ others }: PageOrder, from: number, to: number) =>
  others.some(({ index }) => index > from && index < to);

/** @returns the top with which the range goes on: behind the lowest block that was left open */
function addRange(
  covered: CoveredRange[],
  [top, bottom]: readonly [number | null, number | null],
  claimed: readonly number[],
): number | null {
  if (top === null || bottom === null) return top;
  const add = (from: number, to: number) => void (from <= to && covered.push({ from, to }));
  let upper = top;
  for (const height of claimed) {
    if (height >= upper || height < bottom) continue;
    add(height + 1, upper - 1);
    upper = height;
  }
  add(bottom + 1, upper - 1);
  return upper;
}
