import { expect, test } from 'vitest';
import { spentHistory } from '../../src/report/burn-down.ts';
import type { ThroughputBin } from '../../src/report/throughput.ts';
import { windowOfDay } from '../../src/time-window.ts';

const at = Date.parse('2026-11-22T00:37:30Z');
const window = windowOfDay(at, 900);
const bin = (place: number, credits: number): ThroughputBin => ({
  bin: place,
  minutes: 15,
  lanes: { live: { rows: 0, requests: 0, credits }, backfill: { rows: 0, requests: 0, credits } },
  failures: {},
});

test('it ends now, with what the budget says', () => {
  const { stretches } = spentHistory(window, [bin(0, 10), bin(1, 0), bin(2, 5)], { spent: 30, at });
  expect(stretches).toEqual([
    [
      { place: 0, spent: 0 },
      { place: 1, spent: 20 },
      { place: 2, spent: 20 },
      { place: 2.5, spent: 30 },
    ],
  ]);
});

test('what no lane noted was spent before, and is told', () => {
  expect(spentHistory(window, [bin(1, 10)], { spent: 100, at })).toEqual({
    stretches: [
      [
        { place: 1, spent: 80 },
        { place: 2, spent: 100 },
      ],
    ],
    unnoted: 80,
  });
});

test('what was noted after midnight and spent before it makes nothing negative', () => {
  expect(spentHistory(window, [bin(0, 30)], { spent: 40, at })).toEqual({
    stretches: [
      [
        { place: 0, spent: 0 },
        { place: 1, spent: 40 },
      ],
    ],
    unnoted: 0,
  });
});

test('a clock that was set back left minutes of the future: they are not drawn', () => {
  expect(spentHistory(window, [bin(40, 30)], { spent: 40, at })).toEqual({
    stretches: [],
    unnoted: 40,
  });
});
