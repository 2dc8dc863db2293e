import { expect, test } from 'vitest';
import { contradictedByMovedBlock } from '../../harness/findings.ts';
import { fullBatch, times } from '../../harness/batch-world.ts';
import { range } from '../../harness/kept.ts';
import { postedAs, world } from './listed-world.ts';

test('of many batches that are listed before their blocks, a run requests a few, and finds all that appear', async () => {
  const { poll, open, state, index } = await world(range(1, 5));
  await poll(0);
  state(range(1, 20));

  for (const minute of [10, 20]) {
    const requested = (await poll(minute)).filter((number) => number > 5);
    expect(new Set(requested).size).toBe(requested.length);
    expect(requested.length).toBeLessThanOrEqual(5);
  }
  expect(await open()).toEqual(['batches 6 to 20: listed, but without blocks']);

  index(...range(6, 18));
  await poll(40);
  expect(await open()).toEqual(['batches 19 to 20: listed, but without blocks']);
  index(19, 20);
  await poll(50);
  expect(await open()).toEqual([]);
});

test('a batch without blocks below others with blocks is open until its blocks appear', async () => {
  const { poll, open, state, index } = await world(range(1, 5));
  await poll(0);
  state(range(1, 9));
  index(6, 8, 9);

  // Once by each lane's run.
  expect(times(await poll(10), 7)).toBeLessThanOrEqual(2);
  expect(await open()).toEqual(['batch 7: listed, but without blocks']);

  index(7);
  for (const minute of [200, 400]) await poll(minute);
  expect(await open()).toEqual([]);
});

test('a new batch that the list lacks, below one without blocks, does not prolong a run', async () => {
  const { list, poll, open, alsoState } = await world(range(1, 5));
  await poll(0);
  alsoState(7, postedAs(6));
  list.batches.set(6, fullBatch(5));

  const requested = (await poll(10)).filter((number) => number > 6);

  expect(requested.toSorted((a, b) => a - b)).toEqual([7, 8, 9, 10]);
  expect(await open()).toEqual(['batch 7: listed, but without blocks']);
});

test('a listed number without blocks costs a request a poll, and hides no batch', async () => {
  const { list, poll, serve, alsoState, latestBatch } = await world(range(1, 5));
  alsoState(9_999, [1, 2]);
  await poll(0);
  expect(await latestBatch()).toBe(5);

  serve(range(1, 7));
  list.listed = [{ number: 9_999, blocks: [1, 2] }];
  const requested = [...(await poll(10)), ...(await poll(20))];

  expect(times(requested, 9_999)).toBe(2);
  expect(await latestBatch()).toBe(7);
});

test('gaps have what a finding covers while the newest batch is searched', async () => {
  const { poll, alsoState, database } = await world(range(1, 5));
  await poll(0);
  alsoState(6, [1, 2]);
  await poll(10);

  // As long as no number bounds the list.
  await database.query('update etl.feeds set latest_batch = null');

  expect(await contradictedByMovedBlock(database.pool)).toEqual([]);
});

test('a batch that the list leaves out is still read', async () => {
  const { list, poll, states, open } = await world(range(1, 8));
  list.listed = list.listed.filter(({ number }) => number !== 4);

  await poll(0);

  expect(await states()).toMatchObject({ 3: 'settled', 4: 'settled', 5: 'settled' });
  expect(await open()).toEqual([]);
});

test('the newest batch is searched if the list ends with batches without blocks', async () => {
  const { poll, open, state } = await world(range(1, 5));
  state(range(1, 7));

  const requested = (await poll(0)).filter((number) => number > 5);

  expect(new Set(requested).size).toBe(requested.length);
  expect(await open()).toEqual(['batches 6 to 7: listed, but without blocks']);
});
