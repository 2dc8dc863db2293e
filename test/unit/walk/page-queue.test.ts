import { expect, test } from 'vitest';
import { PageQueue } from '../../../src/sync/walk.ts';

/** Whether a promise settles before all that is due now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

/** A queue of so many pages that holds the first ones. */
async function queueOf(limit: number, pages: number, mostBytes?: number) {
  const queue = new PageQueue<number>(limit, mostBytes);
  for (let page = 1; page <= pages; page += 1) await queue.push(page);
  return queue;
}

test('accepts nothing beyond its limit until pages are taken out, in the order they came', async () => {
  const queue = await queueOf(2, 2);
  const third = queue.push(3);
  expect(await isSettled(third)).toBe(false);

  expect(await queue.takeAll()).toEqual([1, 2]);

  expect(await third).toBe(true);
  expect(await queue.takeAll()).toEqual([3]);
});

test('is full with the page that reaches the most bytes, however few pages that are', async () => {
  const queue = await queueOf(16, 0, 10);
  await queue.push(1, 9);
  expect(await isSettled(queue.push(2, 100))).toBe(true);
  const third = queue.push(3, 1);
  expect(await isSettled(third)).toBe(false);

  const taken = queue.takeAll(() => new Promise(() => undefined));

  expect(await taken).toEqual([1, 2]);
  expect(await third).toBe(true);
});

test.each<[string, (queue: PageQueue<number>) => void, number[]]>([
  ['a page comes', (queue) => void queue.push(1), [1]],
  ['it is closed', (queue) => queue.close(), []],
])('makes a reader wait until %s', async (_, happen, expected) => {
  const queue = await queueOf(2, 0);
  const taken = queue.takeAll();
  expect(await isSettled(taken)).toBe(false);

  happen(queue);

  expect(await taken).toEqual(expected);
});

test('refuses a waiting page when it is closed, and returns those it has', async () => {
  const queue = await queueOf(1, 1);
  const refused = queue.push(2);

  queue.close();

  expect(await refused).toBe(false);
  expect(await queue.takeAll()).toEqual([1]);
  expect(await queue.takeAll()).toEqual([]);
});

test.each<[string, (queue: PageQueue<number>, stop: () => void) => void]>([
  ['it has gathered for long enough', (_, stop) => stop()],
  ['it is full', (queue) => void queue.push(3)],
  ['it is closed', (queue) => queue.close()],
  ['it is to be drained', (queue) => void queue.drained()],
])('waits for more than the first page until %s', async (_, happen) => {
  const queue = await queueOf(3, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const gathering = { isOver: false };
  const taken = queue.takeAll((signal) => {
    signal.addEventListener('abort', () => (gathering.isOver = true));
    void promise.then(() => (gathering.isOver = true));
    return promise;
  });
  await queue.push(2);
  expect(await isSettled(taken)).toBe(false);

  happen(queue, resolve);

  expect((await taken).slice(0, 2)).toEqual([1, 2]);
  expect(gathering.isOver).toBe(true);
});

test('does not wait for pages that never come', async () => {
  const queue = await queueOf(2, 0);
  const taken = queue.takeAll(async () => undefined);
  expect(await isSettled(taken)).toBe(false);

  queue.close();

  expect(await taken).toEqual([]);
});
