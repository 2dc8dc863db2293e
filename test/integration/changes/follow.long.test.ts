import { expect, test } from 'vitest';
import { follow } from './follow.ts';

test('a reader beside lanes that bring 100,000 operations has every row and every change', async () => {
  const { lost, operations } = await follow({ seed: 1, rows: 120_000 });
  expect(lost).toEqual({});
  expect(operations).toBeGreaterThan(100_000);
});
