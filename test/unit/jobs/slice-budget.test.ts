import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSliceBudget } from '../../../src/sync/slice.ts';

/** A slice whose clock a test moves, and the answers to the question whether it gives way. */
function slice(givesWay: () => Promise<boolean>) {
  const at = { ms: 0 };
  const stopping = new AbortController();
  const budget = openSliceBudget(() => at.ms, stopping.signal, givesWay);
  /** Whether it may read a page after a time, and another one when it is known whether others wait. */
  const pagesAfter = async (ms: number) => {
    at.ms += ms;
    const first = budget.takePage();
    await setImmediate();
    return [first, budget.takePage()];
  };
  return { budget, stopping, pagesAfter };
}

test('a slice reads for at most a minute while no other lane waits', async () => {
  const { pagesAfter } = slice(async () => false);

  expect(await pagesAfter(11_000)).toEqual([true, true]);
  expect(await pagesAfter(40_000)).toEqual([true, true]);
  expect(await pagesAfter(10_000)).toEqual([false, false]);
});

test.each([
  ['another lane waits', async () => true],
  ['whether one does is unknown', () => Promise.reject(new Error('away'))],
])('a slice yields after some seconds if %s', async (_, givesWay) => {
  const { budget, pagesAfter } = slice(givesWay);

  expect(await pagesAfter(1_000)).toEqual([true, true]);
  expect(await pagesAfter(11_000)).toEqual([true, false]);
  expect(budget.spent).toBe(true);
});

test('a slice that begins late reads one page', async () => {
  const { pagesAfter } = slice(async () => true);

  expect(await pagesAfter(1_000_000)).toEqual([true, false]);
});

test('a slice that is stopped reads nothing', () => {
  const { budget, stopping } = slice(async () => false);

  stopping.abort();

  expect(budget.takePage()).toBe(false);
});
