import { expect, test } from 'vitest';
import { PageQueue } from '../../../src/sync/page-queue.ts';

/** Whether a promise settles before all that is due now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

test('takes out all that waits, in the order it came', async () => {
  const queue = new PageQueue<number>(4);
  for (const page of [1, 2, 3]) await queue.push(page);

  expect(await queue.takeAll()).toEqual([1, 2, 3]);
});

test('accepts nothing beyond its limit until pages are taken out', async () => {
  const queue = new PageQueue<number>(2);
  await queue.push(1);
  await queue.push(2);
  const third = queue.push(3);
  expect(await isSettled(third)).toBe(false);

  await queue.takeAll();

  expect(await third).toBe(true);
  expect(await queue.takeAll()).toEqual([3]);
});

test('is full with the page that reaches the most bytes, however few pages that are', async () => {
  const queue = new PageQueue<number>(16, 10);
  await queue.push(1, 9);
  expect(await isSettled(queue.push(2, 100))).toBe(true);
  const third = queue.push(3, 1);
  expect(await isSettled(third)).toBe(false);

  const taken = queue.takeAll(() => new Promise(() => undefined));

  expect(await taken).toEqual([1, 2]);
  expect(await third).toBe(true);
});

test('makes a taker wait for the first page', async () => {
  const queue = new PageQueue<number>(2);
  const taken = queue.takeAll();
  expect(await isSettled(taken)).toBe(false);

  await queue.push(1);

  expect(await taken).toEqual([1]);
});

test('hands out what waits after it was closed, then nothing', async () => {
  const queue = new PageQueue<number>(2);
  await queue.push(1);

  queue.close();

  expect(await queue.takeAll()).toEqual([1]);
  expect(await queue.takeAll()).toEqual([]);
});

test('wakes a taker when it is closed', async () => {
  const queue = new PageQueue<number>(2);
  const taken = queue.takeAll();

  queue.close();

  expect(await taken).toEqual([]);
});

test('refuses the page of a pusher that waits when it is closed', async () => {
  const queue = new PageQueue<number>(1);
  await queue.push(1);
  const refused = queue.push(2);

  queue.close();

  expect(await refused).toBe(false);
  expect(await queue.takeAll()).toEqual([1]);
});

/** Gathers until it is told to stop; says when the queue has no more use for it. */
function openGathering() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const gathering = {
    isOver: false,
    stop: resolve,
    until: (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        gathering.isOver = true;
      });
      return promise;
    },
  };
  return gathering;
}

test('waits with what came for as long as it is told to', async () => {
  const queue = new PageQueue<number>(4);
  const gathering = openGathering();
  await queue.push(1);
  const taken = queue.takeAll(gathering.until);
  await queue.push(2);
  expect(await isSettled(taken)).toBe(false);

  gathering.stop();

  expect(await taken).toEqual([1, 2]);
});

test.each([
  ['is full', (queue: PageQueue<number>) => void queue.push(2)],
  ['is closed', (queue: PageQueue<number>) => queue.close()],
  ['is to be drained', (queue: PageQueue<number>) => void queue.drained()],
])('waits no longer where it %s', async (_what, happen) => {
  const queue = new PageQueue<number>(2);
  const gathering = openGathering();
  await queue.push(1);
  const taken = queue.takeAll(gathering.until);
  expect(await isSettled(taken)).toBe(false);

  happen(queue);

  expect(await taken).toContain(1);
  expect(gathering.isOver).toBe(true);
});

test('does not gather what does not come', async () => {
  const queue = new PageQueue<number>(2);
  const gathering = openGathering();
  const taken = queue.takeAll(gathering.until);
  gathering.stop();
  expect(await isSettled(taken)).toBe(false);

  queue.close();

  expect(await taken).toEqual([]);
});
