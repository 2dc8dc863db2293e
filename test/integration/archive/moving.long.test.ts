import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../src/simulator/index.ts';
import { archivedWorld, replayed } from './archive.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const still: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 0,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
};

test('batches that filled, moved and were read down to a known block are rebuilt', async () => {
  const { database, syncAt } = await archivedWorld({
    ...still,
    batches: { first: 1, count: 6, blocks: 60 },
    holesPercent: 10,
    motion: {
      operationsPerMinute: 1,
      blockSeconds: 10,
      oddBatchesPercent: 50,
      reorgsPerDay: 200,
    },
  });
  const operations = ['optimism-batch-blocks'];
  for (let atMs = 0; atMs < 2 * hourMs; atMs += 5 * minuteMs) {
    await syncAt(atMs, { operations, isRangeGiven: false });
  }
  const { rows } = await database.pool.query(
    `select bool_or(reason = 'known') as has_known,
              (select count(*) from explorer.read_batches where state = 'settled') > 3
                as has_settled,
              (select count(*) from explorer.block_reorgs) > 0 as has_reorgs
       from etl.walks`,
  );
  expect(rows).toEqual([{ has_known: true, has_settled: true, has_reorgs: true }]);

  expect((await replayed(database)).differing).toEqual([]);
});

test('batches below those that were asked for first are rebuilt as they were proved', async () => {
  const { database, syncAt } = await archivedWorld({
    ...still,
    batches: { first: 1, count: 8, blocks: 20 },
  });
  const operations = ['optimism-batch-blocks'];
  await syncAt(0, { operations, fromBatch: 4 });
  await syncAt(0, { operations, fromBatch: 1, toBatch: 3 });
  const { rows } = await database.pool.query(
    `select state from explorer.read_batches where batch_number = 4`,
  );
  expect(rows).toEqual([{ state: 'settled' }]);

  expect((await replayed(database)).differing).toEqual([]);
});

test('a ranking that was walked again because rows moved is rebuilt', async () => {
  const { database, syncAt } = await archivedWorld(
    { ...still, factories: 60, motion: { operationsPerMinute: 20, factoryChangeMs: 9 * minuteMs } },
    3 * minuteMs,
  );
  for (const atMs of [0, hourMs, 3 * hourMs]) {
    await syncAt(atMs, { operations: ['factories'], pageSize: 10 });
  }
  const { rows } = await database.pool.query(
    `select bool_or(reason = 'moved') as has_moved, bool_or(reason is null) as has_published
     from etl.walks`,
  );
  expect(rows).toEqual([{ has_moved: true, has_published: true }]);

  expect((await replayed(database)).differing).toEqual([]);
});

test.each([
  ['grew at its head', {}, { has_until: true, has_changes: false }],
  [
    'changed in its midst',
    { latePercent: 2, latestLateMs: 2 * hourMs, orphanedPercent: 2, reincludedPercent: 50 },
    { has_until: false, has_changes: true },
  ],
])('a deep resweep in segments of a list that %s is rebuilt', async (_name, motion, expected) => {
  const { database, syncAt } = await archivedWorld({
    ...still,
    userOperations: 2_000,
    motion: { operationsPerMinute: 30, ...motion },
  });
  for (let hour = 0; hour < 5; hour += 1) {
    await syncAt(hour * hourMs, {
      operations: ['user-operations'],
      resweep: [{ depthMs: 4 * hourMs, everyMs: 3 * hourMs }],
    });
    // The history by one walk; what is read again by several.
    await database.pool.query(`update etl.feeds set settings = settings || '{"parallel": 4}'`);
  }
  const { rows } = await database.pool.query(
    `select count(*) filter (where depth_ms is not null and not from_head) > 1 as has_segments,
              bool_or(reason = 'until') as has_until,
              (select count(*) from explorer.late_arrivals) > 0
                and (select count(*) from explorer.user_operations where removed_at is not null) > 0
                as has_changes
       from etl.walks`,
  );
  expect(rows).toEqual([{ has_segments: true, ...expected }]);

  expect((await replayed(database)).differing).toEqual([]);
});

test('a walk that was set aside between its pages keeps no other from being rebuilt', async () => {
  const { database, syncAt } = await archivedWorld({ ...still, userOperations: 300 });
  const operations = ['user-operations'];
  await syncAt(0, { operations });
  await database.pool.query(`
    update etl.walks set state = 'abandoned', reason = 'superseded';
    update etl.walks set scope = '{}', floor = null
  `);
  await syncAt(0, { operations });

  const { differing, missing } = await replayed(database);
  expect({ differing, missing }).toEqual({ differing: [], missing: 0 });
});
