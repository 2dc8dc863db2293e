import { expect, test } from 'vitest';
import {
  batchBlocks,
  batchWorld,
  fullBatch,
  pageSize,
  startMs,
  times,
} from '../../harness/batch-world.ts';
import { blockItem, range } from '../../harness/kept.ts';
import { pageBudget } from '../../harness/runner.ts';

const bottomOf = (number: number) => 1000 + number * batchBlocks;

test('a lowest batch is verified by two equal ends of two walks, for three more requests, and verify notes it', async () => {
  const { poll, verify, states } = await batchWorld(4, { fromBatch: 1, toBatch: 4 });

  const requested = await poll(0);

  expect(times(requested, 1)).toBe(3 + 3);
  expect(requested.length).toBe(4 * 3 + 3);
  expect(await states()).toMatchObject({ 1: 'settled', 3: 'settled' });
  expect((await verify()).notes).toEqual([
    'batch 1: complete; lower edge unverified (previous batch not downloaded)',
  ]);
});

test.each([1, 2])(
  'a lowest block whose parent was wrong in poll %i alone gets the right one',
  async (lie) => {
    const { list, poll, verify, database } = await batchWorld(4, { fromBatch: 1, toBatch: 4 });
    let polls = 0;
    list.lie = (page, { batch }) => {
      const { items } = page;
      if (batch !== 1 || items.at(-1)?.['height'] !== bottomOf(1)) return page;
      polls += 1;
      return polls === lie
        ? {
            ...page,
            items: [...items.slice(0, -1), blockItem({ height: bottomOf(1), parentEdition: 9 })],
          }
        : page;
    };

    await poll(0);
    await poll(10);

    const rows = await database.query(
      `select parent_hash as hash from explorer.blocks where height = ${bottomOf(1)}`,
    );
    expect(rows).toEqual([{ hash: blockItem({ height: bottomOf(1) })['parent_hash'] }]);
    expect((await verify()).open).toEqual([]);
  },
);

test('empty numbers below the lowest batch are read by two walks before they count, gaps between others once', async () => {
  const { list, poll, verify, states } = await batchWorld(6, { fromBatch: 1, toBatch: 6 });
  for (const number of [1, 2]) list.batches.delete(number);
  list.batches.delete(5);
  list.batches.set(6, [...fullBatch(5), ...fullBatch(6)]);

  const requested = await poll(0);

  expect([1, 2, 3, 5].map((number) => times(requested, number))).toEqual([4, 3, 3 + 2, 1]);
  expect(await states()).toEqual({
    1: 'empty, verified',
    2: 'empty, verified',
    3: 'settled',
    4: 'settled',
    5: 'empty, verified',
    6: 'open',
  });
  expect((await verify()).notes).toEqual([
    'batch 3: complete; lower edge unverified (previous batch not downloaded); 2 empty numbers below, not confirmed',
  ]);
});

test('a lowest batch is read to its end, wherever slices end', async () => {
  const { list, poll, states, database } = await batchWorld(2, { fromBatch: 1, toBatch: 2 });
  await database.query(`update etl.feeds set settings = settings || '{"parallel": 2}'`);
  // A page of batch 2 beside many of batch 1: its reader finds nothing left to begin.
  list.batches.set(2, fullBatch(2).slice(0, 8));
  const heights = range(bottomOf(2) - 24 * pageSize, bottomOf(2) - 1);
  list.batches.set(
    1,
    heights.map((height) => ({ height })),
  );
  // The first slice ends with the last page of both.
  await poll(0, 'schedule', () => pageBudget(1 + 24));

  expect(await states()).toEqual({ 1: 'settled', 2: 'open' });
});

test('a lowest batch stays verified when numbers below it are requested, whichever is read first', async () => {
  const { poll, states, verify, runner, database } = await batchWorld(7, { fromBatch: 4 });
  await poll(0);
  expect(await states()).toMatchObject({ 4: 'settled' });
  await database.query(`update etl.feeds set settings = settings || '{"parallel": 1}'`);

  for (const number of [1, 2, 3]) {
    const lane = { chain_id: 10, operation: 'optimism-batch-blocks', lane: 'backfill' } as const;
    await runner.run(
      [{ lane, scope: { from_batch: number, to_batch: number } }],
      new Date(startMs),
      'sync',
    );
    expect(await states()).toMatchObject({ 4: 'settled' });
  }

  expect(await states()).toMatchObject({ 1: 'settled', 2: 'settled', 3: 'settled', 4: 'settled' });
  expect((await verify()).open).toEqual([]);
});
