import { expect, test } from 'vitest';
import { isOlder, judgeOrder } from '../../../src/sync/order.ts';

const since = '2026-01-02T00:00:00.000Z';
const [before, after] = [Date.parse(since) - 1, Date.parse(since)];

/** A page of one item in each block, with these times. */
const pageOf = (times: readonly (number | null)[]) =>
  judgeOrder(
    times.map((timeMs, place) => ({ height: 100 - place, key: `0x${place}`, timeMs })),
    { previousLast: null, entry: null, isEntryAbove: false, next: null },
  );

test.each([
  ['older if all its items are', [before, before, before], true],
  ['not older if one item is at that time', [before, before, after], false],
  ['not older if one item reports the future', [Date.UTC(2099, 0, 1), before, before], false],
  ['older if a few items report no time', [before, null, before], true],
  ['not older if half of its items report no time', [before, null], false],
  ['not older if it is empty', [], false],
])('a page is %s', (_, times, expected) => {
  expect(isOlder(pageOf(times), since)).toBe(expected);
  expect(isOlder(pageOf(times), undefined)).toBe(false);
});
