import { expect, test } from 'vitest';
import { rateHeaders, retryAfterMs } from '../../../src/explorer/response.ts';

const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
const soon = 'Wed, 21 Oct 2026 07:28:05 GMT';

test('rate headers are numbers, and null where absent, -1 or unreadable', () => {
  expect(
    rateHeaders({
      'x-ratelimit-limit': '300',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '-1',
    }),
  ).toEqual({ limit: 300, remaining: 0, resetMs: null, creditsRemaining: null });
  expect(rateHeaders({ 'x-credits-remaining': '99980', 'x-ratelimit-limit': 'many' })).toEqual({
    limit: null,
    remaining: null,
    resetMs: null,
    creditsRemaining: 99_980,
  });
});

test.each([
  ['seconds', 429, { 'retry-after': '2' }, 2000],
  [
    'seconds before the reset header',
    429,
    { 'retry-after': '2', 'x-ratelimit-reset': '900' },
    2000,
  ],
  ['a date, against the answer’s own', 503, { 'retry-after': soon, date }, 5000],
  ['a date in the past', 429, { 'retry-after': date, date: soon }, null],
  ['no time', 429, { 'retry-after': '0' }, null],
  ['a date, against the wall clock', 429, { 'retry-after': soon }, 4000],
  ['the reset header in milliseconds', 429, { 'x-ratelimit-reset': '1500' }, 1500],
  ['a reset that is a date', 429, { 'x-ratelimit-reset': '1790000000000' }, null],
  ['an unknown reset', 429, { 'x-ratelimit-reset': '-1' }, null],
  ['a reset header of another status', 503, { 'x-ratelimit-reset': '1500' }, null],
  ['a negative Retry-After', 429, { 'retry-after': '-5' }, null],
  ['nonsense', 429, { 'retry-after': 'soon' }, null],
  ['more than a day', 429, { 'retry-after': '999999999' }, 86_400_000],
  ['nothing', 429, {}, null],
])('the wait requested: %s', (_name, status, headers, expected) => {
  expect(retryAfterMs(status, headers, Date.parse(soon) - 4000)).toBe(expected);
});
