import type { ListOrder } from '../lists/operation.ts';
import type { WalkRow } from '../lists/tables.ts';
import { missedEntry, type WalkEnd } from './judge.ts';
import type { NormalisedPage } from './normalise.ts';
import type { PageOrder, TrustedPlace } from './order.ts';

/** Blocks of which all items are covered to be here: from `from` to `to`, both included. */
export interface CoveredRange {
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

/** A page as coverage sees it. */
export interface CoveringPage {
  readonly order: PageOrder;
  /** How many items it holds. */
  readonly items: number;
  /** Whether its next cursor can be read as the position of the next page's first item. */
  readonly isNextKnown: boolean;
  /** Whether it skips stored rows, more than leave a list at once. */
  readonly jumps: boolean;
}

/** What pages add to their walk's coverage, if its list has an order that gives coverage. */
export function coverPages(
  order: ListOrder | null,
  walk: Pick<WalkRow, 'range_top' | 'cuts'>,
  read: {
    readonly pages: readonly NormalisedPage[];
    readonly jumping: ReadonlySet<number>;
    readonly end: WalkEnd | null;
  },
): CoverageState {
  let coverage: CoverageState = { rangeTop: walk.range_top, covered: [], cuts: walk.cuts };
  if (order?.givesCoverage !== true) return coverage;
  for (const page of read.pages) {
    if (page.order === null || missedEntry(read)) continue;
    coverage = coverPage(coverage, {
      order: page.order,
      items: page.items,
      isNextKnown: page.cursor_out !== null && order.position(page.cursor_out) !== null,
      jumps: read.jumping.has(page.page_id),
    });
  }
  return read.end?.is === 'end' ? coverEnd(coverage) : coverage;
}

/**
 * Extends coverage by one page. Pages that follow each other verify the blocks between their highest and their
 * lowest, both excluded. Disorder ends the range; the next one begins below. A block that a misplaced item
 * names stays open: the item may belong there, and is stored without it. Pure.
 */
export function coverPage(before: CoverageState, page: CoveringPage): CoverageState {
  const { trusted, misplaced, claimed, unplaced } = page.order;
  // An empty page skips nothing if the next one begins with the item that was requested.
  if (page.items === 0 && page.order.isEntryKnown) return before;
  if (page.jumps || trusted.length === 0) return cutBehind(before, page.items > 0);
  const broken = [...misplaced, ...unplaced];
  const joins = before.rangeTop !== null && page.order.joins;
  let cuts = before.cuts + (before.rangeTop === null || joins ? 0 : 1);
  let top = joins ? before.rangeTop : page.order.top;
  const covered = [...before.covered];
  let last: TrustedPlace | null = null;
  for (const place of trusted) {
    if (isBroken(broken, last?.index ?? -1, place.index) && (last !== null || joins)) {
      addRange(covered, [top, last?.height ?? null], claimed);
      top = place.height;
      cuts += 1;
    }
    last = place;
  }
  const bottom = page.isNextKnown ? last : (trusted.at(-2) ?? null);
  top = addRange(covered, [top, bottom?.height ?? null], claimed);
  const goesOn = page.order.leadsOn && !isBroken(broken, last?.index ?? -1, Infinity);
  return { rangeTop: goesOn ? top : null, covered, cuts: cuts + (goesOn ? 0 : 1) };
}

/** Coverage where the list ends, if the end is believed: nothing is below. */
export function coverEnd({ rangeTop, covered, cuts }: CoverageState): CoverageState {
  if (rangeTop === null) return { rangeTop, covered, cuts };
  return { rangeTop, covered: [...covered, { from: 0, to: rangeTop - 1 }], cuts };
}

/** A page that covers nothing: the next one begins a new range. Without a range nothing is cut. */
const cutBehind = (
  { rangeTop, covered, cuts }: CoverageState,
  hasItems: boolean,
): CoverageState => ({
  rangeTop: null,
  covered,
  cuts: cuts + (rangeTop !== null || hasItems ? 1 : 0),
});

const isBroken = (broken: readonly number[], from: number, to: number) =>
  broken.some((index) => index > from && index < to);

/** @returns the top with which the range goes on: behind the lowest block that was left open */
function addRange(
  covered: CoveredRange[],
  [top, bottom]: readonly [number | null, number | null],
  claimed: readonly number[],
): number | null {
  if (top === null || bottom === null) return top;
  let above = top;
  for (const height of claimed) {
    if (height >= above || height < bottom) continue;
    pushRange(covered, height + 1, above - 1);
    above = height;
  }
  pushRange(covered, bottom + 1, above - 1);
  return above;
}

function pushRange(covered: CoveredRange[], from: number, to: number): void {
  if (from <= to) covered.push({ from, to });
}
