import { expect, test } from 'vitest';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { recount } from '../../harness/coverage.ts';
import { openInWords } from '../../harness/findings.ts';
import { findingText } from '../../../src/status/findings.ts';
import { batchWorld, fullBatch, startMs } from '../../harness/batch-world.ts';

test('a gap made by hand is named exactly, closed with its pages, and then nothing is open', async () => {
  const { poll, runner, lanes, list, database } = await batchWorld(8);
  await poll(0);
  const findings = async () => openInWords(await verifyFeeds(runner.db));
  expect(await findings()).toEqual([]);
  await database.pool.query(`
    delete from explorer.blocks where optimism_batch_number = 4;
    delete from explorer.read_batches where batch_number = 4;
    delete from etl.pages using etl.walks where walks.id = walk_id and batch = 4;
    delete from etl.walks where batch = 4;
  `);
  expect(await findings()).toContain('stored totals differ from the walks');
  await recount(database.pool);

  expect(await findings()).toEqual(['batch 4: not downloaded']);
  for (const round of await repairsOf(runner.db, await verifyFeeds(runner.db), lanes)) {
    await runner.run(round, new Date(startMs), 'sync');
  }

  expect(list.takeRequests()).toEqual([4, 4, 4]);
  expect(await findings()).toEqual([]);
  const [report] = await verifyFeeds(runner.db);
  expect(report?.covered).toMatchObject([{ from: 1, to: 7 }]);
  expect(report?.notes.filter(({ kind }) => kind === 'pending-head').map(findingText)).toEqual([
    'batch 8: waiting for the next batch',
  ]);
});

test('an unverified batch below a settled one is open, and so are empty numbers that nothing verifies', async () => {
  const { list, poll, runner, lanes } = await batchWorld(9);
  list.batches.set(3, fullBatch(3).toSpliced(60, 1));
  list.batches.delete(6);
  await poll(0);
  const open = async () => openInWords(await verifyFeeds(runner.db));

  expect(await open()).toEqual([
    'batch 3: heights or hashes inside do not link',
    'batches 5 to 7: heights or hashes do not link at the border',
    'batch 6: downloaded as empty, which no neighbour confirms',
  ]);
  const [[newest, ...others] = []] = await repairsOf(
    runner.db,
    await verifyFeeds(runner.db),
    lanes,
  );
  expect(newest?.scope).toEqual({ from_batch: 5, to_batch: 7 });
  expect(others).toEqual([]);
});

test('where nothing of three batches is settled, they are no head', async () => {
  const { list, poll, runner } = await batchWorld(3);
  const pending = [1, 2, 3].map((number) => [number, fullBatch(number)] as const);
  for (const [number, blocks] of pending) {
    list.batches.set(
      number,
      blocks.map((block) => ({ ...block, isPending: true })),
    );
  }
  await poll(0);

  const [report] = await verifyFeeds(runner.db);
  expect(report?.open.map(findingText)).toEqual([
    'batch 1: 120 blocks to be updated by the service',
    'batches 1 to 3: none of them is verified',
    'batch 2: 120 blocks to be updated by the service',
    'batch 3: 120 blocks to be updated by the service',
  ]);
});

test('a border that was broken by hand is fixed by the repair, and then nothing is open', async () => {
  const { poll, runner, lanes, database } = await batchWorld(8);
  await poll(0);
  const findings = async () => openInWords(await verifyFeeds(runner.db));
  await database.pool.query(
    `update explorer.blocks set parent_hash = null
     where height = (select first_height from explorer.read_batches where batch_number = 5)`,
  );
  expect(await findings()).toEqual(['batches 4 to 5: heights or hashes do not link at the border']);

  for (const round of await repairsOf(runner.db, await verifyFeeds(runner.db), lanes)) {
    await runner.run(round, new Date(startMs), 'sync');
  }

  expect(await findings()).toEqual([]);
});

test('a lowest batch whose neighbour is read again after the one above it stays settled', async () => {
  const { poll, states, runner, lanes, database } = await batchWorld(4);
  await poll(0);
  await database.pool.query(`
    delete from explorer.blocks where optimism_batch_number in (2, 3);
    delete from explorer.read_batches where batch_number in (2, 3);
    delete from etl.pages using etl.walks where walks.id = walk_id and batch in (2, 3);
    delete from etl.walks where batch in (2, 3);
    update etl.feeds set settings = settings || '{"parallel": 1}';
  `);

  for (const round of await repairsOf(runner.db, await verifyFeeds(runner.db), lanes)) {
    await runner.run(round, new Date(startMs), 'sync');
  }

  expect(await states()).toEqual({ 1: 'settled', 2: 'settled', 3: 'settled', 4: 'open' });
});
