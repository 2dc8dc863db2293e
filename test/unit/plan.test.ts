import { describe, expect, test } from 'vitest';
import { firingsPerDay } from '../../src/report/plan/firings.ts';
import { endsOf, type Job } from '../../src/report/plan/timeline.ts';

const midnight = new Date('2026-11-21T00:00:00Z');
const fresh = { at: midnight, spentToday: 0, upkeepPerDay: 0 };
const day = 86_400;

const job = (feed: string, requests: number, more: Partial<Job> = {}): Job => ({
  feed,
  requests,
  walks: 1,
  mostWalks: more.walks ?? 1,
  latencyMs: null,
  ...more,
});

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
  ])('%s as often a day as it does', (cron, perDay) => {
    const found = firingsPerDay(cron, midnight);
    expect(Math.abs(found - perDay)).toBeLessThanOrEqual(perDay / 100);
  });
});

describe('the end of a history', () => {
  const free = { perSecond: 5, perDay: 5_000 };

  test('is its requests by the rate, while the day has credits', () => {
    expect(endsOf([job('a', 4_000)], free, fresh).get('a')).toBeCloseTo(800);
  });

  test('is in the day that pays for its last request', () => {
    expect(endsOf([job('a', 12_500)], free, fresh).get('a')).toBeCloseTo(2 * day + 500);
  });

  test('is today when a whole day of credits is just enough', () => {
    expect(endsOf([job('a', 5_000)], free, fresh).get('a')).toBeCloseTo(1_000);
  });

  test('counts from the time of day, and with what today has cost already', () => {
    const noon = { ...fresh, at: new Date('2026-11-21T12:00:00Z'), spentToday: 4_000 };
    expect(endsOf([job('a', 2_000)], free, noon).get('a')).toBeCloseTo(day / 2 + 200);
  });

  test('waits for midnight where today has no credits left', () => {
    const spent = { ...fresh, spentToday: 6_000 };
    expect(endsOf([job('a', 5)], free, spent).get('a')).toBeCloseTo(day + 1);
  });

  test('goes over midnight without a wait where credits do not bind', () => {
    const rate = { perSecond: 1, perDay: null };
    expect(endsOf([job('a', 2 * day)], rate, fresh).get('a')).toBeCloseTo(2 * day);
  });

  test('comes later beside an upkeep, which goes first', () => {
    const besides = { ...fresh, upkeepPerDay: 4_000 };
    const end = endsOf([job('a', 2_500)], free, besides).get('a') ?? 0;
    expect(Math.floor(end / day)).toBe(2);
  });

  test('never comes where the upkeep takes all', () => {
    expect(endsOf([job('a', 1)], free, { ...fresh, upkeepPerDay: 5_000 }).get('a')).toBeNull();
  });

  test('of several histories comes in proportion to their walks', () => {
    const jobs = [job('a', 100), job('b', 400, { walks: 4 }), job('c', 200)];
    const ends = endsOf(jobs, { perSecond: 6, perDay: null }, fresh);
    expect(ends.get('a')).toBeCloseTo(100);
    expect(ends.get('b')).toBeCloseTo(100);
    expect(ends.get('c')).toBeCloseTo(100 + 100 / 6);
  });

  test('is no sooner than the answers come, and the rate goes to others', () => {
    const jobs = [job('slow', 100, { latencyMs: 1_000 }), job('fast', 900)];
    const ends = endsOf(jobs, { perSecond: 10, perDay: null }, fresh);
    expect(ends.get('slow')).toBeCloseTo(100);
    expect(ends.get('fast')).toBeCloseTo(100);
  });

  test('of nothing is now', () => {
    expect(endsOf([job('a', 0)], free, fresh).get('a')).toBe(0);
  });
});
