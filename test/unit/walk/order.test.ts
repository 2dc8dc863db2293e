import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inOrder } from '../../../src/lists/positions.ts';
import {
  joins,
  judgeOrder,
  lacksEntry,
  mayListEntry,
  misplacedIn,
  type PageBorders,
  type ReportedPlace,
  topOf,
  withoutPlace,
} from '../../../src/sync/order.ts';

const genesisMs = Date.UTC(2026, 0, 1);
const blockMs = 2_000;
const keyOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;
const at = (height: number) => ({ height, key: keyOf(height) });
const found = (block: number, says: Partial<ReportedPlace> = {}): ReportedPlace => ({
  ...at(block),
  timeMs: genesisMs + block * blockMs,
  ...says,
});

/** Blocks 1009 down to 1000, requested where the page before ended. */
const page = Array.from({ length: 10 }, (_, index) => found(1009 - index));
const borders: PageBorders = {
  previousLast: at(1010),
  entry: at(1009),
  isEntryAbove: false,
  next: at(999),
};
const trustedOf = (places: readonly ReportedPlace[], between: PageBorders = borders) =>
  judgeOrder(places, between).inOrder.map(({ index }) => index);
const all = page.map((_, index) => index);

describe('a page of a list that is newest first', () => {
  test('is trusted whole if it is in order and was the page requested', () => {
    const judged = judgeOrder(page, borders);

    expect(judged).toMatchObject({ others: [], leadsOn: true });
    expect(joins(judged)).toBe(true);
    expect(trustedOf(page)).toEqual(all);
  });

  test('lacks its entry if all its items have other keys, at any position', () => {
    const foreign = page.map((place, index): ReportedPlace => ({
      ...place,
      key: keyOf(9_000 + index),
    }));
    const swapped = [...page.slice(1), ...page.slice(0, 1)];

    expect(lacksEntry(foreign, borders)).toBe(true);
    expect(lacksEntry(swapped, borders)).toBe(false);
    for (const height of [1009, null]) {
      const keyless = foreign.with(0, found(1009, { key: null, height }));
      expect([lacksEntry(keyless, borders), mayListEntry(keyless, borders)]).toEqual([true, true]);
    }
    expect(mayListEntry(foreign.with(4, found(1005, { key: null })), borders)).toBe(false);
    expect(lacksEntry(page.with(0, found(1009, { height: 1008 })), borders)).toBe(true);
    expect(lacksEntry(page.with(0, found(1009, { height: null })), borders)).toBe(false);
    expect(lacksEntry(foreign, { ...borders, isEntryAbove: true })).toBe(false);
  });

  test('without a position bounds nothing, and names all its items as misplaced', () => {
    const placeless = withoutPlace(judgeOrder(page, borders));

    expect(placeless).toMatchObject({ inOrder: [], leadsOn: false });
    expect(placeless.others.map(({ index }) => index)).toEqual(all);
    expect(misplacedIn(placeless)).toBe('all');
    expect([topOf(placeless), joins(placeless)]).toEqual([null, false]);
  });

  test('behind a cursor that names a block confirms its first block if that is the next one', () => {
    const entered = (height: number) =>
      topOf(
        judgeOrder(page, { ...borders, previousLast: null, entry: at(height), isEntryAbove: true }),
      );

    expect([entered(1010), entered(1011)]).toEqual([1009, 1008]);
  });

  test('has no position if it repeats the page before', () => {
    const repeated = Array.from({ length: 10 }, (_, index) => found(1019 - index));

    const judged = judgeOrder(repeated, borders);

    expect(judged).toMatchObject({ inOrder: [], leadsOn: false });
    expect(joins(judged)).toBe(false);
  });

  test('is trusted, but not joined, if it begins below the requested position', () => {
    const later = Array.from({ length: 10 }, (_, index) => found(989 - index));

    const judged = judgeOrder(later, { ...borders, next: at(979) });

    expect(judged.inOrder).toHaveLength(10);
    expect(joins(judged)).toBe(false);
  });

  test.each([
    ['below the next page', 9, 5],
    ['above the page before', 0, 999_999_999_999],
    ['far from the items beside it', 4, 12],
    ['above the item before it', 5, 1008],
  ])('leaves out one item whose number is %s', (_, index, height) => {
    const wrong = page.with(index, found(1009 - index, { height }));

    expect(trustedOf(wrong)).toEqual(all.filter((other) => other !== index));
  });

  test.each([1, 7])(
    'is no evidence if its cursor’s item has a higher number, and all may be %i too high',
    (wrongBy) => {
      const wrong = page.map((place) => ({ ...place, height: (place.height ?? 0) + wrongBy }));
      const spaced = { ...borders, next: at(990) };

      expect(trustedOf(wrong, spaced)).toEqual([]);
    },
  );

  test.each([
    ['the first', 0],
    ['the first two', 1],
  ])('at the head leaves out %s whose numbers contradict their times', (_, last) => {
    const wrong = page.map((place, index) =>
      index <= last ? { ...place, height: 999_999_999_999 - index } : place,
    );

    expect(trustedOf(wrong, { ...borders, previousLast: null, entry: null })).toEqual(
      all.slice(last + 1),
    );
  });

  test('ignores a next position that most of its own items contradict', () => {
    const judged = judgeOrder(page, { ...borders, next: at(5_000) });

    expect(judged.inOrder).toHaveLength(10);
    expect(judged.leadsOn).toBe(false);
  });

  test('verifies nothing where more than a fourth of it is out of order', () => {
    expect(judgeOrder(page.toReversed(), borders).inOrder).toEqual([]);
  });

  test.each([
    [2, 6],
    [3, 0],
  ])('of eight items, %i of them out of order, trusts %i', (wrong, trusted) => {
    const places = page
      .slice(0, 8)
      .map((place, index) => (index < wrong ? { ...place, height: 5 - index } : place));

    expect(trustedOf(places, { ...borders, next: at(1001) })).toHaveLength(trusted);
  });

  test('may repeat the last item of the page before', () => {
    const judged = judgeOrder([found(1010), ...page], borders);

    expect(judged.others).toEqual([]);
    expect([topOf(judged), joins(judged)]).toEqual([1009, true]);
  });

  test('ignores an item above the requested position only if it is listed first', () => {
    const spaced = { ...borders, previousLast: at(1020) };
    const wrong = found(1004, { height: 1015 });

    expect(judgeOrder([wrong, ...page], spaced).others).toEqual([]);
    expect(judgeOrder(page.with(5, wrong), spaced).others).toEqual([{ index: 5, ...wrong }]);
  });

  test('does not place an item above the requested position that no page above confirms', () => {
    const first = { ...borders, previousLast: null };
    const judged = judgeOrder([found(1004, { height: 1015 }), ...page.slice(0, 5)], first);

    expect(judged.others).toEqual([{ index: 0, height: null }]);
    expect(misplacedIn(judged)).toEqual([0]);
    expect(judged.inOrder).toHaveLength(5);
  });

  test('of a list by number may repeat a number only if the next one follows', () => {
    const numbered = page.map((place) => ({ ...place, key: String(place.height) }));
    const ten = { height: 1010, key: '1010' };
    const above = { previousLast: ten, entry: ten, isEntryAbove: true, next: null };

    expect(judgeOrder([found(1010, ten), ...numbered], above).others).toEqual([]);
    expect(judgeOrder([found(1010, ten), ...numbered.slice(1)], above).others).toMatchObject([
      { index: 0, height: 1010 },
    ]);
  });

  test('uses the items alone if no cursor can be read', () => {
    const opaque = { ...borders, entry: null, next: null };

    const judged = judgeOrder(page, opaque);

    expect(judged.others).toEqual([]);
    expect(joins(judged)).toBe(true);
    expect(trustedOf(page.with(3, found(5)), opaque)).toEqual(all.filter((index) => index !== 3));
  });
});

test('trusted items are in order, whatever a page contains', () => {
  const place = fc.record({
    height: fc.option(fc.nat(40)),
    key: fc.option(fc.nat(5).map(String)),
    timeMs: fc.option(fc.nat(100_000)),
  });
  const border = fc.option(fc.record({ height: fc.nat(40), key: fc.nat(5).map(String) }));
  fc.assert(
    fc.property(fc.array(place, { maxLength: 12 }), border, border, border, (...drawn) => {
      const [places, previousLast, entry, next] = drawn;
      const { inOrder: trusted, others } = judgeOrder(places, {
        previousLast,
        entry,
        isEntryAbove: false,
        next,
      });

      const ceilings = [previousLast, entry].filter((ceiling) => ceiling !== null);
      const isRight = trusted.every((item, index) =>
        [...ceilings, ...trusted.slice(0, index)].every((before) => inOrder(before, item)),
      );
      expect(isRight).toBe(true);
      const isRepeat = (item: { height: number; key: string }, index: number) =>
        previousLast !== null &&
        item.height === previousLast.height &&
        item.key === previousLast.key
          ? true
          : entry !== null &&
            !inOrder(entry, item) &&
            item.key !== entry.key &&
            (previousLast === null ? index === 0 : inOrder(previousLast, item));
      const named = places.flatMap(({ height, key }, index) =>
        height === null || key === null ? [] : [{ height, key, index }],
      );
      const own = named.findIndex((item) => !isRepeat(item, item.index));
      const placed = own === -1 ? [] : named.slice(own).map(({ index }) => index);
      expect(
        [...trusted, ...others.filter(({ height }) => height !== null)]
          .map(({ index }) => index)
          .toSorted((a, b) => a - b),
      ).toEqual(placed);
    }),
  );
});
