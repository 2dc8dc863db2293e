import { expect, test } from 'vitest';
import { dataAgeOf, type ItemPace } from '../../src/report/newest-items.ts';

const lookedAt = '2026-11-22T12:00:00.000Z';
const looked = Date.parse(lookedAt) / 1000;
const [hour, year] = [3600, 365 * 86_400];

/** A list with an item every five minutes, whose newest items are so old, in seconds. */
const pace = (ages: readonly number[], longest_s = 600): ItemPace => ({
  newest: ages.map((age) => looked - age),
  usual_s: 300,
  longest_s,
});

test('an item that is as old as usual is current, to the second', () => {
  expect(dataAgeOf(pace([70, 300, 640]), lookedAt)).toEqual({
    newest_at: '2026-11-22T11:58:50.000Z',
    age_s: 70,
    usual_s: 300,
    limit_s: 6 * hour,
    is_met: true,
  });
});

test('a silence of six hours is none, and one of three years is', () => {
  expect(dataAgeOf(pace([6 * hour, 7 * hour, 8 * hour]), lookedAt).is_met).toBe(true);
  expect(dataAgeOf(pace([3 * year, 3 * year, 3 * year]), lookedAt)).toMatchObject({
    age_s: 3 * year,
    is_met: false,
  });
});

test('a list that rests for a day now and then may rest for three', () => {
  const resting = (hours: number) =>
    dataAgeOf(pace([hours * hour, hours * hour + 60, hours * hour + 90], 24 * hour), lookedAt);
  expect(resting(71).is_met).toBe(true);
  expect(resting(73).is_met).toBe(false);
});

test('new items end a silence when three of them agree', () => {
  const isMet = (ages: readonly number[]) => dataAgeOf(pace(ages), lookedAt).is_met;
  expect(isMet([60, 3 * year, 3 * year])).toBe(false);
  expect(isMet([60, 90, 3 * year])).toBe(false);
  expect(isMet([60, 90, 120])).toBe(true);
});
