import { expect, test } from 'vitest';
import { follow } from './follow.ts';

test.each([1, 2])(
  'seed %i: a reader beside lanes that bring 100,000 operations has every row and every change',
  async (seed) => {
    const { lost, operations } = await follow({ seed, rows: 120_000 });
    expect(lost).toEqual({});
    expect(operations).toBeGreaterThan(100_000);
  },
);
