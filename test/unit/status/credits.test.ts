import { expect, test } from 'vitest';
import { forecastCredits } from '../../../src/status/credits.ts';

type Spending = Parameters<typeof forecastCredits>[0];

/** Noon: half of a day of 5,000 pages is to come, and half of its credits is left. */
const noon = new Date('2026-11-22T12:00:00.000Z');
const half: Spending = {
  spent: 50_000,
  limit: 100_000,
  left: 50_000,
  pollsPerDay: 1_440,
  history: { least: 0, most: 0 },
};
const requests = (least: number, most = least) => ({ history: { least, most } });
const scarce = { spent: 97_000, left: 3_000 };
const takes = (least: number, most: number) => {
  return { kind: 'history-takes-days', days: { least, most } };
};
const alarm = (time: string) => ({ kind: 'lasts-until', at: `2026-11-22T${time}:00.000Z` });

test.each<[what: string, changes: Partial<Spending>, forecast: object]>([
  ['history that fits into the day is enough', requests(1_780), { kind: 'enough' }],
  // 1,780 requests today beside 720 of polls, and 3,560 on each day that follows.
  ['history takes days', requests(10_000), takes(3, 3)],
  ['history of unknown length may end today', requests(1, 10_000), takes(0, 3)],
  [
    'without a limit of ours the day has what is left',
    { limit: null, ...requests(10_000) },
    takes(3, 3),
  ],
  ['polls need more than a day of credits', { pollsPerDay: 10_000 }, alarm('18:00')],
  ['polls need more than what is left', scarce, alarm('14:30')],
  ['also with history', { ...scarce, ...requests(10_000) }, alarm('14:30')],
  ['also with unknown history', { ...scarce, history: null }, alarm('14:30')],
  ['unknown history has no forecast', { history: null }, { kind: 'unknown' }],
  [
    'credits are spent until midnight',
    { spent: 99_990, left: 10 },
    { kind: 'spent', until: '2026-11-23T00:00:00.000Z' },
  ],
  [
    'a balance below zero stops nothing while it is served',
    { limit: null, left: -170 },
    { kind: 'no-limit' },
  ],
  ['no limit is known', { limit: null, left: null }, { kind: 'no-limit' }],
])('credits: %s', (_what, changes, forecast) => {
  expect(forecastCredits({ ...half, ...changes }, noon)).toEqual(forecast);
});
