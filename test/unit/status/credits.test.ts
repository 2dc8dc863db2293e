import { expect, test } from 'vitest';
import { forecastCredits } from '../../../src/status/credits.ts';

type Spending = Parameters<typeof forecastCredits>[0];

/** Noon: half of a day of 5,000 pages is to come, and half of its credits is left. */
const noon = (changes: Partial<Spending> = {}) =>
  forecastCredits({
    at: new Date('2026-11-22T12:00:00.000Z'),
    spent: 50_000,
    limit: 100_000,
    left: 50_000,
    pollsPerDay: 1_440,
    history: { least: 0, most: 0 },
    ...changes,
  });

test('a first read that fits into the day is no alarm, however fast it goes', () => {
  expect(noon({ history: { least: 1_780, most: 1_780 } })).toEqual({ kind: 'enough' });
});

test('a history that needs several days of credits is a note', () => {
  // 1,780 requests today beside 720 of polls, and 3,560 on each day that follows.
  expect(noon({ history: { least: 10_000, most: 10_000 } })).toEqual({
    kind: 'history-takes-days',
    days: { least: 3, most: 3 },
  });
  expect(noon({ history: { least: 1, most: 10_000 } })).toEqual({
    kind: 'history-takes-days',
    days: { least: 0, most: 3 },
  });
});

test('without a limit of ours a day has what the explorer left and what was spent', () => {
  expect(noon({ limit: null, history: { least: 10_000, most: 10_000 } })).toEqual({
    kind: 'history-takes-days',
    days: { least: 3, most: 3 },
  });
});

test('polls that need more than a day of credits are an alarm', () => {
  expect(noon({ pollsPerDay: 10_000 })).toEqual({
    kind: 'lasts-until',
    at: '2026-11-22T18:00:00.000Z',
  });
});

test('credits that are nearly used up are an alarm if polls need more, with history or without', () => {
  const alarm = { kind: 'lasts-until', at: '2026-11-22T14:30:00.000Z' };
  const scarce = { spent: 97_000, left: 3_000 };
  expect(noon(scarce)).toEqual(alarm);
  expect(noon({ ...scarce, history: { least: 10_000, most: 10_000 } })).toEqual(alarm);
  expect(noon({ ...scarce, history: null })).toEqual(alarm);
});

test('nothing is claimed of a history of which nothing is known', () => {
  expect(noon({ history: null })).toEqual({ kind: 'unknown' });
});

test('credits that are used up are so until midnight', () => {
  expect(noon({ spent: 99_990, left: 10 })).toEqual({
    kind: 'spent',
    until: '2026-11-23T00:00:00.000Z',
  });
  expect(noon({ limit: null, left: null })).toEqual({ kind: 'no-limit' });
});
