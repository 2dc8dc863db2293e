import { expect, test } from 'vitest';
import { Limiter, type Limits } from '../../../simulator/limit.ts';

const noon = Date.parse('2026-11-21T12:00:00Z');

/** The verdicts on requests that come so many ms after noon. */
const verdicts = (limits: Limits, moments: readonly number[], limiter = new Limiter()) =>
  moments.map((ms) => limiter.admit(noon + ms, limits).verdict);

test('one more than the limit is let in within any second, the next is throttled', () => {
  expect(verdicts({ requestsPerSecond: 2 }, [0, 500, 900, 999, 1001])).toEqual([
    'let-in',
    'let-in',
    'let-in',
    'throttled',
    'let-in',
  ]);
});

test('credits are those of a day in UTC', () => {
  const nextDay = 12 * 3_600_000;
  expect(verdicts({ dailyCredits: 40 }, [0, 1, 2, nextDay - 1, nextDay])).toEqual([
    'let-in',
    'let-in',
    'out-of-credits',
    'out-of-credits',
    'let-in',
  ]);
});

test('the headers say what is left, nothing, or that it is unknown', () => {
  const headersOf = (headers: NonNullable<Limits['headers']>) =>
    new Limiter().admit(noon, { requestsPerSecond: 5, dailyCredits: 100, headers }).headers;
  expect(headersOf('stated')).toEqual({
    'x-ratelimit-limit': 5,
    'x-ratelimit-remaining': 4,
    'x-ratelimit-reset': 1000,
    'x-credits-remaining': 80,
  });
  expect(headersOf('absent')).toEqual({});
  expect(new Set(Object.values(headersOf('unknown')))).toEqual(new Set([-1]));
});
