import type { PageOrder, TrustedPlace } from './order.ts';

/** Blocks of which all items are proved to be here: from `from` to `to`, both included. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
}

/** What a walk's pages prove so far; kept with its checkpoint. */
export interface CoverageState {
  /** The highest block of the stretch that goes on with the next page; null behind a cut. */
  readonly rangeTop: number | null;
  /** What the last pages proved, to be united with what was proved before. */
  readonly proved: readonly CoveredRange[];
  /** Places at which the pages proved nothing, so that the stretch ended. */
  readonly cuts: number;
}

/** A page as the proof sees it. */
export interface ProvingPage {
  readonly order: PageOrder;
  /** How many items it holds. */
  readonly items: number;
  /** Whether its next cursor can be read as the position of the next page's first item. */
  readonly isNextKnown: boolean;
  /** Whether it skips stored rows, more than leave a list at once. */
  readonly jumps: boolean;
}

/**
 * Extends a proof by one page. Pages that follow each other verify the blocks between their highest and their
 * lowest, both excluded. Disorder ends the stretch; the next one begins below. A block that a misplaced item
 * names stays open: the item may belong there, and is stored without it. Pure.
 */
export function coverPage(before: CoverageState, page: ProvingPage): CoverageState {
  const { trusted, misplaced, claimed, unplaced } = page.order;
  // An empty page skips nothing where the next one begins with the item that it was asked for.
  if (page.items === 0 && page.order.isEntryKnown) return before;
  if (page.jumps || trusted.length === 0) return cutBehind(before, page.items > 0);
  const broken = [...misplaced, ...unplaced];
  const joins = before.rangeTop !== null && page.order.joins;
  let cuts = before.cuts + (before.rangeTop === null || joins ? 0 : 1);
  let top = joins ? before.rangeTop : page.order.top;
  const proved = [...before.proved];
  let last: TrustedPlace | null = null;
  for (const place of trusted) {
    if (isBroken(broken, last?.index ?? -1, place.index) && (last !== null || joins)) {
      prove(proved, [top, last?.height ?? null], claimed);
      top = place.height;
      cuts += 1;
    }
    last = place;
  }
  const bottom = page.isNextKnown ? last : (trusted.at(-2) ?? null);
  top = prove(proved, [top, bottom?.height ?? null], claimed);
  const goesOn = page.order.leadsOn && !isBroken(broken, last?.index ?? -1, Infinity);
  return { rangeTop: goesOn ? top : null, proved, cuts: cuts + (goesOn ? 0 : 1) };
}

/** The proof where the list ends, which is believed: nothing is below. */
export function coverEnd({ rangeTop, proved, cuts }: CoverageState): CoverageState {
  if (rangeTop === null) return { rangeTop, proved, cuts };
  return { rangeTop, proved: [...proved, { from: 0, to: rangeTop - 1 }], cuts };
}

/** A page that proves nothing: the next one begins anew. Where no stretch was, none is cut. */
const cutBehind = (
  { rangeTop, proved, cuts }: CoverageState,
  hasItems: boolean,
): CoverageState => ({
  rangeTop: null,
  proved,
  cuts: cuts + (rangeTop !== null || hasItems ? 1 : 0),
});

const isBroken = (broken: readonly number[], from: number, to: number) =>
  broken.some((index) => index > from && index < to);

/** @returns the top with which the stretch goes on: behind the lowest block that was left open */
function prove(
  proved: CoveredRange[],
  [top, bottom]: readonly [number | null, number | null],
  claimed: readonly number[],
): number | null {
  if (top === null || bottom === null) return top;
  let above = top;
  for (const height of claimed) {
    if (height >= above || height < bottom) continue;
    pushRange(proved, height + 1, above - 1);
    above = height;
  }
  pushRange(proved, bottom + 1, above - 1);
  return above;
}

function pushRange(proved: CoveredRange[], from: number, to: number): void {
  if (from <= to) proved.push({ from, to });
}
