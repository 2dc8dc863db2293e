import { expect, test } from 'vitest';
import { type CoverageState, coverEnd, coverPage } from '../../../src/sync/judge.ts';
import {
  bottomOf,
  judgeOrder,
  type PageBorders,
  type ReportedPlace,
  withoutPlace,
} from '../../../src/sync/order.ts';

const keyOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;
const place = (height: number) => ({ height, key: keyOf(height) });
const reported = (height: number): ReportedPlace => ({ ...place(height), timeMs: height * 2_000 });
const nothing: CoverageState = { rangeTop: null, covered: [], cuts: 0 };

interface Served {
  readonly blocks: readonly number[];
  /** Whether stored rows refute it. */
  readonly isRefuted?: boolean;
  /** Whether cursors can be read as positions. */
  readonly opaque?: boolean;
}

/** Walks over pages from the head down; each is requested at the next page's first block. */
function walk(pages: readonly Served[]): CoverageState {
  let coverage = nothing;
  let previousLast = null;
  for (const [index, { blocks, isRefuted = false, opaque = false }] of pages.entries()) {
    const first = pages[index]?.blocks[0];
    const next = pages[index + 1]?.blocks[0];
    const entry = index === 0 || opaque || first === undefined ? null : place(first);
    const judged = judgeOrder(blocks.map(reported), {
      previousLast,
      entry,
      isEntryAbove: false,
      next: opaque || next === undefined ? null : place(next),
    });
    const order = isRefuted ? withoutPlace(judged) : judged;
    coverage = coverPage(coverage, order, blocks.length);
    previousLast = judged.leadsOn ? bottomOf(judged) : null;
  }
  return coverage;
}

/** The blocks of all ranges, the lowest first. */
const blocksOf = ({ covered: verified }: CoverageState) =>
  [
    ...new Set(
      verified.flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, index) => from + index),
      ),
    ),
  ].toSorted((a, b) => a - b);

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('consecutive pages verify the range from the second item to the last that the next page confirms', () => {
  expect(
    blocksOf(walk([{ blocks: [30, 28, 26, 24] }, { blocks: [22, 20, 18, 16] }, { blocks: [14] }])),
  ).toEqual(range(17, 27));
});

test('the end of a list verifies all below, except blocks that misplaced items of its page name', () => {
  const before = walk([{ blocks: [9, 8, 7, 6] }, { blocks: [5, 4] }]);
  expect(blocksOf(coverEnd(before, [], 0))).toEqual(range(0, 7));
  expect(blocksOf(coverEnd(before, [2], 0))).toEqual([0, 1, ...range(3, 7)]);
  expect(blocksOf(coverEnd(before, [], 4))).toEqual(range(4, 7));
});

test('the block that an out-of-order item names is open, above its position and below', () => {
  // 25 stands behind 22: it is 25 that is misplaced, or 22 that came too early.
  const below = walk([
    { blocks: [30, 28, 24, 22, 25, 20] },
    { blocks: [18, 16] },
    { blocks: [14] },
  ]);
  expect(blocksOf(below)).not.toContain(25);
  // 17 stands ahead of its place, on a page that reaches below it.
  const above = walk([
    { blocks: [30, 28, 17, 24, 22, 16] },
    { blocks: [14, 12] },
    { blocks: [10] },
  ]);
  expect(blocksOf(above)).not.toContain(17);
  expect(blocksOf(above)).toEqual(expect.arrayContaining([18, 19, 15, 14, 13]));
});

test('an item out of order leaves its neighbours and the range between them open', () => {
  const coverage = walk([{ blocks: [30, 29, 28, 5, 26, 25, 24, 23] }, { blocks: [22, 21] }]);

  expect(blocksOf(coverage)).toEqual(range(23, 25));
  expect(coverage.cuts).toBe(1);
});

test('a page that skips stored rows verifies nothing, nor do the ranges beside it', () => {
  const coverage = walk([
    { blocks: [30, 29, 28] },
    { blocks: [27, 26, 25], isRefuted: true },
    { blocks: [24, 23, 22] },
    { blocks: [21] },
  ]);

  expect(blocksOf(coverage)).toEqual([23]);
  expect(coverage.cuts).toBe(1);
});

test.each([
  ['ends the range above it if the next page begins lower than requested', 20, 1],
  ['skips nothing if the next page begins where it was requested', 26, 0],
])('an empty page in the middle of the list %s', (_, first, cuts) => {
  // As `walk.ts` has it: both pages are held against the position that was requested first.
  const requested = { previousLast: place(27), entry: place(26), isEntryAbove: false, next: null };
  const cover = (coverage: CoverageState, blocks: readonly number[]) =>
    coverPage(coverage, judgeOrder(blocks.map(reported), requested), blocks.length);

  const coverage = cover(cover({ rangeTop: 27, covered: [], cuts: 0 }, []), [
    first,
    first - 1,
    first - 2,
  ]);

  expect(blocksOf(coverage).includes(first)).toBe(cuts === 0);
  expect(coverage.cuts).toBe(cuts);
});

test('if cursors cannot be read, the last item alone bounds nothing', () => {
  expect(blocksOf(walk([{ blocks: [30, 29, 28, 27, 26], opaque: true }]))).toEqual([28]);
});

test('an empty page ends the range if its cursor names no position', () => {
  const before: CoverageState = { rangeTop: 20, covered: [], cuts: 0 };
  const emptyAt = (entry: PageBorders['entry']) =>
    coverPage(
      before,
      judgeOrder([], { previousLast: place(10), entry, isEntryAbove: false, next: null }),
      0,
    );

  expect(emptyAt(place(9))).toEqual(before);
  expect(emptyAt(null)).toEqual({ rangeTop: null, covered: [], cuts: 1 });
});
