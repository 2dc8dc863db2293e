import { expect, test } from 'vitest';
import { PageQueue } from '../../../src/sync/page-queue.ts';

/** Whether a promise settles before all that is due now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

const bounds = { mostBytes: 10, gatherMs: 1_000 };

/** A queue that holds the first pages, of a byte each. `at` is the time. */
async function queueOf(pages: number) {
  const clock = { at: 0 };
  const queue = new PageQueue<number>(bounds, () => clock.at);
  for (let page = 1; page <= pages; page += 1) await queue.push(page, 1);
  return { queue, clock };
}

const forEver = () => new Promise(() => undefined);

test('a page waits to be taken in until pages are taken out of a full queue, in their order', async () => {
  const { queue } = await queueOf(9);
  expect(await isSettled(queue.push(10, 100))).toBe(true);
  const next = queue.push(11, 1);
  expect(await isSettled(next)).toBe(false);

  expect(await queue.takeAll(null)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);

  expect(await next).toBe(true);
  expect(await queue.takeAll(null)).toEqual([11]);
});

test('a queue whose first page has waited for long enough is full', async () => {
  const { queue, clock } = await queueOf(1);
  clock.at = bounds.gatherMs - 1;
  expect(await isSettled(queue.push(2, 1))).toBe(true);
  clock.at = bounds.gatherMs;
  const third = queue.push(3, 1);
  expect(await isSettled(third)).toBe(false);

  expect(await queue.takeAll(forEver)).toEqual([1, 2]);

  expect(await third).toBe(true);
});

test('an empty queue is never full, however long it waits for a page', async () => {
  const { queue, clock } = await queueOf(0);
  clock.at = 10 * bounds.gatherMs;
  expect(await isSettled(queue.push(1, 1))).toBe(true);
});

test.each<[string, (queue: PageQueue<number>) => void, number[]]>([
  ['a page comes', (queue) => void queue.push(1, 1), [1]],
  ['it is closed', (queue) => queue.close(), []],
])('the consumer waits until %s', async (_, happen, expected) => {
  const { queue } = await queueOf(0);
  const taken = queue.takeAll(null);
  expect(await isSettled(taken)).toBe(false);

  happen(queue);

  expect(await taken).toEqual(expected);
});

test('a queue that is closed refuses a waiting page, and returns those it has', async () => {
  const { queue } = await queueOf(10);
  const refused = queue.push(11, 1);

  queue.close();

  expect(await refused).toBe(false);
  expect(await queue.takeAll(null)).toHaveLength(10);
  expect(await queue.takeAll(null)).toEqual([]);
});

test.each<[string, (queue: PageQueue<number>, stop: () => void) => void]>([
  ['they have gathered for long enough', (_, stop) => stop()],
  ['it is full', (queue) => void queue.push(3, 8)],
  ['it is flushed', (queue) => queue.flush()],
  ['it is closed', (queue) => queue.close()],
])('pages wait for others until %s', async (_, happen) => {
  const { queue, clock } = await queueOf(1);
  clock.at = 300;
  const { promise, resolve } = Promise.withResolvers<void>();
  const gathering = { isOver: false, ms: 0 };
  const taken = queue.takeAll((ms, signal) => {
    gathering.ms = ms;
    signal.addEventListener('abort', () => (gathering.isOver = true));
    void promise.then(() => (gathering.isOver = true));
    return promise;
  });
  await queue.push(2, 1);
  expect(await isSettled(taken)).toBe(false);

  happen(queue, resolve);

  expect((await taken).slice(0, 2)).toEqual([1, 2]);
  expect(gathering).toEqual({ isOver: true, ms: 700 });
});

test('the consumer does not wait for pages that never come', async () => {
  const { queue } = await queueOf(0);
  const taken = queue.takeAll(async () => undefined);
  expect(await isSettled(taken)).toBe(false);

  queue.close();

  expect(await taken).toEqual([]);
});

test('the producer waits until its pages are written: they are taken at once, then committed', async () => {
  const { queue } = await queueOf(1);
  const written = queue.isWritten();
  expect(await queue.takeAll(forEver)).toEqual([1]);
  expect(await isSettled(written)).toBe(false);

  const more = queue.takeAll(forEver);

  expect(await written).toBe(true);
  queue.close();
  expect(await more).toEqual([]);
});

test('the producer does not wait for pages that are never written', async () => {
  const { queue } = await queueOf(1);
  const written = queue.isWritten();
  await queue.takeAll(forEver);

  queue.close();

  expect(await written).toBe(false);
});
