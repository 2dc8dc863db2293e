import { expect, test } from 'vitest';
import type { ItemPace } from '../../../src/status/facts.ts';
import { newestItem } from '../../../src/status/status.ts';

const polledAt = '2026-11-22T12:00:00.000Z';
const polled = Date.parse(polledAt) / 1000;
const [hour, year] = [3600, 365 * 86_400];

/** A list with an item every five minutes, whose newest items are so old, in seconds. */
const pace = (ages: readonly number[], longest_s = 600): ItemPace => ({
  newest: ages.map((age) => polled - age),
  usual_s: 300,
  longest_s,
});

test('an item that is as old as usual is current, to the second', () => {
  expect(newestItem(pace([70, 300, 640]), polledAt)).toEqual({
    at: '2026-11-22T11:58:50.000Z',
    age_s: 70,
    usual_s: 300,
    limit_s: 6 * hour,
    is_met: true,
  });
});

test('six hours without items are no silence, and three years are', () => {
  expect(newestItem(pace([6 * hour, 7 * hour, 8 * hour]), polledAt).is_met).toBe(true);
  expect(newestItem(pace([3 * year, 3 * year, 3 * year]), polledAt)).toMatchObject({
    age_s: 3 * year,
    is_met: false,
  });
});

test('a list that sometimes has no items for a day may have none for three', () => {
  const resting = (hours: number) =>
    newestItem(pace([hours * hour, hours * hour + 60, hours * hour + 90], 24 * hour), polledAt);
  expect(resting(71).is_met).toBe(true);
  expect(resting(73).is_met).toBe(false);
});

test('new items end a silence when three of them agree', () => {
  const isMet = (ages: readonly number[]) => newestItem(pace(ages), polledAt).is_met;
  expect(isMet([60, 3 * year, 3 * year])).toBe(false);
  expect(isMet([60, 90, 3 * year])).toBe(false);
  expect(isMet([60, 90, 120])).toBe(true);
});
