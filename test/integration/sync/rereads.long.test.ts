import { expect, test } from 'vitest';
import { honestly, range } from '../../harness/kept.ts';
import { batchBlocks, batchWorld, fullBatch, times } from '../../harness/batch-world.ts';
import type { Occasion } from '../../../src/lists/list.ts';
import { openRunner } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';
import { lyingList, pages, pageSize, reversed } from './lying-list.ts';

test('a run with nothing new costs one poll, and one page of the newest batch', async () => {
  const { list, poll, states } = await batchWorld(3);
  await poll(0);
  expect(await states()).toEqual({ 1: 'settled', 2: 'settled', 3: 'open' });

  // Right above the latest batch every other time, else farther and farther.
  const polls: number[][] = [];
  for (let run = 1; run <= 6; run += 1) polls.push(await poll(run * 10));
  expect(polls).toEqual([4, 5, 4, 6, 4, 7].map((number) => [number, 3]));

  list.batches.set(4, fullBatch(4));
  expect((await poll(70))[0]).toBe(4);
  expect((await poll(80))[0]).toBe(5);
});

test('a verified batch is never read again', async () => {
  const { poll } = await batchWorld(6);
  await poll(0);

  const requested: number[] = [];
  for (const minute of [10, 60, 600, 6_000, 60_000]) {
    requested.push(...(await poll(minute, 'start')), ...(await poll(minute)));
    requested.push(...(await poll(minute, 'sync')));
  }

  expect(requested.filter((number) => number < 6)).toEqual([]);
});

test('a new batch costs its pages, one for its end, and one for each poll until the next batch', async () => {
  const { list, poll, states } = await batchWorld(3);
  await poll(0);
  const requested: number[] = [];
  for (const [run, newest] of [4, 5, 6, 6, 7, 8].entries()) {
    list.batches.set(newest, fullBatch(newest));
    // What finds no batch is a poll above the latest batch.
    requested.push(...(await poll(10 + run * 10)).filter((number) => list.batches.has(number)));
  }

  expect(await states()).toMatchObject({ 4: 'settled', 5: 'settled', 6: 'settled', 7: 'settled' });
  const costs = [4, 5, 6, 7].map((number) => times(requested, number));
  // The end of each is seen again when a later run finds the next one, as that of 7 does not. Number
  // 6 waits for a run without number 7, and for one whose poll goes past it.
  expect(costs).toEqual([3 + 1, 3 + 1, 3 + 1 + 2, 3]);
});

test('a batch that grows costs its new pages and one more each time', async () => {
  const { list, poll, states } = await batchWorld(3);
  await poll(0);
  list.batches.set(4, fullBatch(4).slice(0, 6));
  expect(times(await poll(10), 4)).toBe(1);

  list.batches.set(4, fullBatch(4).slice(0, 15));
  expect(times(await poll(20), 4)).toBe(1);

  list.batches.set(4, fullBatch(4));
  expect(times(await poll(30), 4)).toBe(1);
  list.batches.set(5, fullBatch(5));
  await poll(40);
  await poll(50);
  expect(await states()).toMatchObject({ 4: 'settled' });
});

test('a clock that was ahead for a while does not postpone the next read of a batch', async () => {
  const { list, poll } = await batchWorld(8);
  list.batches.set(3, fullBatch(3).toSpliced(12, 1));
  await poll(0);
  expect(await poll(100_000)).toContain(3);

  expect(await poll(10)).toContain(3);
  expect(await poll(15)).not.toContain(3);
});

test('a batch that stays open is read again at growing intervals, and by sync at once', async () => {
  const { list, poll, states } = await batchWorld(8);
  // A block is missing in the middle.
  list.batches.set(3, fullBatch(3).toSpliced(12, 1));
  await poll(0);
  expect(await states()).toMatchObject({ 2: 'settled', 3: 'open', 4: 'settled' });

  const minutes: number[] = [];
  for (let minute = 5; minute <= 300; minute += 5) {
    if ((await poll(minute)).includes(3)) minutes.push(minute);
  }
  expect(minutes).toEqual([10, 20, 40, 80, 160]);
  expect(times(await poll(301, 'sync'), 3)).toBe(3);

  list.batches.set(3, fullBatch(3));
  await poll(302, 'sync');
  expect(await states()).toMatchObject({ 3: 'settled' });
});

test('a newest batch that is no chain is read again at growing intervals once a read brought nothing', async () => {
  const { list, poll, states } = await batchWorld(5);
  list.batches.set(4, fullBatch(4).toSpliced(12, 1));
  await poll(0);
  expect(await states()).toMatchObject({ 3: 'settled', 4: 'open' });

  const minutes: number[] = [];
  for (let minute = 5; minute <= 100; minute += 5) {
    if ((await poll(minute)).includes(4)) minutes.push(minute);
  }
  expect(minutes).toEqual([5, 15, 30, 60]);
});

test('an empty number is verified if its neighbours link, and else read again', async () => {
  const { list, poll, states } = await batchWorld(6);
  list.batches.delete(2);
  // The heights of number 4 go to number 5.
  list.batches.delete(4);
  list.batches.set(5, [...fullBatch(4), ...fullBatch(5)]);
  await poll(0);
  expect(await states()).toMatchObject({ 1: 'open', 2: 'empty', 4: 'empty, verified' });

  list.batches.set(2, fullBatch(2));
  const requested = await poll(10);

  expect(times(requested, 2)).toBe(3);
  expect(requested).not.toContain(4);
  // The lowest one is read before it, and finds no neighbour yet: it is settled by number 2's end.
  expect(await states()).toMatchObject({ 1: 'settled', 2: 'settled', 3: 'settled' });
});

test('a batch loses only the blocks that it no longer lists', async () => {
  const { list, poll, membersOf, states } = await batchWorld(4);
  const top = 999 + 5 * batchBlocks;
  await poll(0);
  expect(await membersOf(top - 3, top)).toEqual([4, 4, 4, 4]);

  list.batches.set(4, fullBatch(4).slice(0, -3));
  await poll(10);

  expect(await membersOf(top - 3, top)).toEqual([4, null, null, null]);
  expect(await states()).toMatchObject({ 4: 'open' });
});

test('a poll whose walk fails does not mark its number as empty, and is repeated', async () => {
  const { list, poll, states } = await batchWorld(3);
  await poll(0);
  // Its first page is empty and leads to its own beginning: that is requested once more.
  const next_page_params = { block_number: 2, items_count: 0 };
  list.lie = (page, { batch }) => (batch === 4 ? { ...page, next_page_params } : null);
  await expect(poll(10)).rejects.toThrow('cursor loop');
  expect(list.takeRequests().map(({ batch }) => batch)).toEqual([4, 4, 4, 3]);

  list.lie = honestly;
  list.batches.set(4, fullBatch(4));
  expect((await poll(20))[0]).toBe(4);
  await poll(30);
  expect(await states()).toMatchObject({ 3: 'settled', 4: 'open' });
});

test('a chain without a batch is searched again at growing intervals, not by every run', async () => {
  const { list, poll, states } = await batchWorld(0);
  const searched: number[] = [];
  for (let minute = 0; minute <= 200; minute += 5) {
    if ((await poll(minute)).length > 0) searched.push(minute);
  }
  expect(searched).toEqual([0, 10, 20, 40, 80, 160]);

  list.batches.set(1, fullBatch(1));
  await poll(201, 'sync');
  expect(await states()).toEqual({ 1: 'open' });
});

test('batches behind a wide gap are found, and all of them are read', async () => {
  const { list, poll, states } = await batchWorld(3);
  await poll(0);
  for (let number = 30; number <= 40; number += 1) {
    // The chain goes on as if there were no gap.
    list.batches.set(number, fullBatch(number - 26));
  }

  // As many as go right above the latest batch, near and far.
  for (let run = 1; run <= 45; run += 1) await poll(run * 10);

  const read = await states();
  const settled = Object.keys(read).filter((number) => read[number] === 'settled');
  expect(settled.map(Number)).toEqual([1, 2, 3, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
  expect(read).toMatchObject({ 4: 'empty, verified', 29: 'empty, verified', 40: 'open' });
});

test('an empty number that nothing verifies is requested by each poll among the newest, and ever more rarely below', async () => {
  const { list, poll, states } = await batchWorld(5);
  await poll(0);
  // Nothing links 5 and 7.
  list.batches.set(7, fullBatch(7));
  const minutesOf = async (minutes: readonly number[]) => {
    const requesting: number[] = [];
    for (const minute of minutes) if ((await poll(minute)).includes(6)) requesting.push(minute);
    return requesting;
  };
  const early = [10, 20, 30, 40];
  expect(await minutesOf(early)).toEqual(early);
  for (const number of [8, 9]) list.batches.set(number, fullBatch(number));

  // Its interval is the time since the first poll, which requested it too.
  expect(await minutesOf(range(5, 33).map((ten) => ten * 10))).toEqual([80, 160, 320]);
  expect(await states()).toMatchObject({ 6: 'empty', 7: 'open', 8: 'settled' });
});

test('a gap that stays because pages are out of order is read again at growing intervals, and by sync at once', async () => {
  const startMs = Date.UTC(2026, 0, 2);
  const { list, database, sync, gaps } = await lyingList();
  await sync({ maxPages: 2, at: new Date(startMs) });
  const operations = ['user-operations'];
  const run = { url: list.url, chains: [plainChain], operations, pageSize };
  const runner = await openRunner(database, run);
  const history = runner.lanes.filter(({ lane }) => lane.lane === 'backfill');
  const poll = async (minute: number, occasion: Occasion = 'schedule') => {
    await runner.run(history, new Date(startMs + minute * 60_000), occasion);
    return list.takeRequests().length;
  };
  list.lie = reversed;
  expect(await poll(0)).toBeGreaterThanOrEqual(pages - 2);

  const read: number[] = [];
  // Right before each is due, when it is, and long after the last.
  for (const minute of [5, 10, 15, 20, 35, 40, 75, 80, 155, 160, 200]) {
    if ((await poll(minute)) > 0) read.push(minute);
  }

  expect(read).toEqual([10, 20, 40, 80, 160]);
  expect(await gaps()).toHaveLength(1);
  list.lie = honestly;
  expect(await poll(165)).toBe(0);
  expect(await poll(165, 'sync')).toBeGreaterThanOrEqual(pages - 2);
  expect(await gaps()).toEqual([]);
});
