import { expect, test } from 'vitest';
import { backOffMs } from '../../../src/sync/failures.ts';

const growing = { failure: 'unreachable', retryAfterMs: null } as const;

test('waits grow from seconds to at most ten minutes', () => {
  const longest = [1, 2, 3, 8, 100].map((inARow) => backOffMs(growing, inARow, () => 1));
  expect(longest).toEqual([5_000, 10_000, 20_000, 600_000, 600_000]);
});

test('feeds that failed together are retried at different times in half of the wait', () => {
  expect([0, 0.5, 1].map((random) => backOffMs(growing, 1, () => random))).toEqual([
    2_500, 3_750, 5_000,
  ]);
});

test('a pause lasts a little longer than stated, however often it is repeated', () => {
  const paused = { failure: 'out-of-credits', retryAfterMs: 3_600_000 } as const;
  for (const inARow of [1, 100]) {
    expect([0, 1].map((random) => backOffMs(paused, inARow, () => random))).toEqual([
      3_600_000, 3_630_000,
    ]);
  }
});

test('a failure with a stated wait waits at least as long, and its waits grow', () => {
  const stated = { failure: 'unreachable', retryAfterMs: 8_000 } as const;
  expect([1, 8].map((inARow) => backOffMs(stated, inARow, () => 0))).toEqual([8_000, 300_000]);
});

test('a stated wait of a day lasts ten minutes', () => {
  const stated = { failure: 'unreachable', retryAfterMs: 86_400_000 } as const;
  expect([1, 8].map((inARow) => backOffMs(stated, inARow, () => 1))).toEqual([600_000, 600_000]);
});
