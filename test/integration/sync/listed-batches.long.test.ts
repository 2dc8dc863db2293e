import { whole } from '../../../src/terminal/numbers.ts';
import { expect, test } from 'vitest';
import { batchBlocks, batchWorld, fullBatch, times } from '../../harness/batch-world.ts';

/** Where a full batch begins and ends, as it is posted to L1. */
const postedAs = (number: number) =>
  [1000 + number * batchBlocks, 999 + (number + 1) * batchBlocks] as const;

/** Batches of which some numbers are not used, and their list, which is copied before each poll of them. */
async function listedWorld(numbers: readonly number[]) {
  const world = await batchWorld(0, {}, ['optimism-batches']);
  const { list } = world;
  /** Batches follow each other in blocks, whatever gaps are between their numbers. */
  const serve = (used: readonly number[]) => {
    list.batches.clear();
    for (const [place, number] of used.entries()) list.batches.set(number, fullBatch(place));
    list.stated = new Map(used.map((number, place) => [number, postedAs(place)]));
  };
  serve(numbers);
  const latestBatch = async () => {
    const { rows } = await world.database.pool.query<{ latest: number }>(
      `select latest_batch::int as latest from etl.feeds where kind = 'numbered'`,
    );
    return rows[0]?.latest;
  };
  return { ...world, serve, latestBatch };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place);

/** Three pages a batch. */
const pages = 3;

test('the list shows the newest batch and the gaps: nothing is searched, and no gap is requested', async () => {
  const used = [...range(1, 6), ...range(9, 10), ...range(40, 44)];
  const { poll, states, verify, latestBatch } = await listedWorld(used);

  const requested = await poll(0);

  expect(await latestBatch()).toBe(44);
  // One look whether the newest is there, and its pages; the lowest is requested twice where it ends.
  expect(requested.length).toBe(used.length * pages + 1 + 1);
  expect(requested.filter((number) => !used.includes(number))).toEqual([]);
  expect(await states()).toMatchObject({
    7: 'empty, verified',
    20: 'empty, verified',
    43: 'settled',
  });
  expect((await verify()).open).toEqual([]);
});

test('new batches behind a gap are met by the first poll', async () => {
  const { poll, serve, latestBatch, verify } = await listedWorld(range(1, 5));
  await poll(0);
  serve([...range(1, 5), 60, 61]);

  const requested = await poll(10);

  expect(await latestBatch()).toBe(61);
  expect(requested.filter((number) => number > 5 && number < 60)).toEqual([]);
  expect((await verify()).open).toEqual([]);
});

test('a batch that the list leaves out is read all the same', async () => {
  const { list, poll, states, verify } = await listedWorld(range(1, 8));
  list.stated = new Map([...(list.stated ?? [])].filter(([number]) => number !== 4));

  await poll(0);

  expect(await states()).toMatchObject({ 3: 'settled', 4: 'settled', 5: 'settled' });
  expect((await verify()).open).toEqual([]);
});

test('a listed number without blocks costs a request a poll, and hides no batch', async () => {
  const { list, poll, serve, latestBatch } = await listedWorld(range(1, 5));
  list.stated = new Map([...(list.stated ?? []), [9_999, [1, 2]]]);
  await poll(0);
  expect(await latestBatch()).toBe(5);

  serve(range(1, 7));
  list.stated = new Map([[9_999, [1, 2]]]);
  const requested = [...(await poll(10)), ...(await poll(20)), ...(await poll(30))];

  expect(times(requested, 9_999)).toBe(3);
  expect(await latestBatch()).toBe(7);
});

test('a settled batch whose blocks are not what was posted to L1 is open, and named, until they agree', async () => {
  const { list, poll, serve, states, verify } = await listedWorld(range(1, 5));
  const [start, end] = postedAs(2);
  list.stated = new Map([...(list.stated ?? []), [3, [start, end - 1]]]);

  await poll(0);

  expect(await states()).toMatchObject({ 3: 'settled' });
  expect((await verify()).open).toEqual([
    `batch 3: blocks ${whole(start)} to ${whole(end)} downloaded, ${whole(start)} to ${whole(end - 1)} in the list of batches`,
  ]);

  serve(range(1, 5));
  await poll(10);
  expect((await verify()).open).toEqual([]);
});

test('a number that is verified empty, and which the list says has blocks, is open', async () => {
  const { list, poll, states, verify } = await listedWorld([1, 2, 3, 5, 6]);
  list.stated = new Map([...(list.stated ?? []), [4, [5, 9]]]);

  await poll(0);

  expect(await states()).toMatchObject({ 4: 'empty, verified' });
  expect((await verify()).open).toEqual([
    'batch 4: downloaded as empty, blocks 5 to 9 in the list of batches',
  ]);
});
