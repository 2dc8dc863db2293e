import { describe, expect, test } from 'vitest';
import { about, none, upTo } from '../../src/lists/list.ts';
import { type FeedPlan, planOf } from '../../src/status/plan.ts';
import { firingsPerDay } from '../../src/status/schedule.ts';

const midnight = new Date('2026-11-21T00:00:00Z');
const fresh = { at: midnight, spentToday: 0 };
const day = 86_400;

describe('a schedule fires', () => {
  test.each([
    ['*/5 * * * *', 288],
    ['*/10 * * * *', 144],
    ['0 */6 * * *', 4],
    ['* * * * *', 1440],
    ['@daily', 1],
    ['0 3 29 2 *', 0],
    ['0 0 1 * *', 12 / 365],
    ['*/30 9-16 * * 1-5', (16 * 5) / 7],
  ])('%s the expected number of times a day', (cron, perDay) => {
    const found = firingsPerDay(cron, midnight);
    expect(Math.abs(found - perDay)).toBeLessThanOrEqual(perDay / 100);
  });
});

const feed = (requests: number, pollsPerDay = 0): FeedPlan => ({
  chain_id: 10,
  operation: 'user-operations',
  feed: '10/user-operations',
  target: { since: null, from_batch: null, to_batch: null, named_by: null },
  history: about(requests),
  upkeep: about(pollsPerDay),
});

describe('the time that a history takes', () => {
  const free = { requestsPerSecond: 5, dailyCredits: 100_000 };
  const seconds = (requests: number, limits = free, moment = fresh) =>
    planOf([feed(requests)], limits, moment).history.seconds.likely;

  test('is its requests divided by the rate while the day has credits', () => {
    expect(seconds(4_000)).toBe(800);
    expect(seconds(5_000)).toBe(1_000);
  });

  test('ends on the day whose credits pay for its last request', () => {
    expect(seconds(12_500)).toBe(2 * day + 500);
  });

  test('counts from the time of day and the credits spent today', () => {
    const noon = { at: new Date('2026-11-21T12:00:00Z'), spentToday: 4_000 };
    expect(seconds(2_000, free, noon)).toBe(day / 2 + 200);
  });

  test('waits for midnight if today has no credits left', () => {
    expect(seconds(5, free, { ...fresh, spentToday: 6_000 })).toBe(day + 1);
  });

  test('passes midnight without a wait if credits suffice', () => {
    const unlimited = { requestsPerSecond: 1, dailyCredits: null };
    expect(planOf([feed(2 * day)], unlimited, fresh).history.seconds.likely).toBe(2 * day);
  });

  test('is longer with polls, and unlimited if they take all credits', () => {
    const beside = (polls: number) =>
      planOf([feed(2_500, polls)], free, fresh).history.seconds_beside_polls.likely;
    expect(Math.floor((beside(4_000) ?? 0) / day)).toBe(2);
    expect(beside(5_000)).toBeNull();
    expect(planOf([feed(1, 5_001)], free, fresh).polls.fits).toBe(false);
  });

  test('of an upper bound is an upper bound', () => {
    const bound = { ...feed(0), history: upTo(1, 600) };
    expect(planOf([bound], free, fresh).history.seconds).toEqual({ likely: null, most: 120 });
  });

  test('is zero if nothing is left', () => {
    expect(planOf([{ ...feed(0), history: none }], free, fresh).history.seconds.most).toBe(0);
  });
});
