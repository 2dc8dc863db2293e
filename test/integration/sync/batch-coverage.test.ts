import { expect, test } from 'vitest';
import { recountCoverage, repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { batchWorld, fullBatch, startMs } from '../../harness/batch-world.ts';
import { openRun } from '../../harness/runs.ts';

/** Batches that were read once, and a repair of what is open. */
async function copied(...requested: Parameters<typeof batchWorld>) {
  const world = await batchWorld(...requested);
  const { poll, runner, lanes, database, verify } = world;
  await poll(0);
  return {
    ...world,
    query: (sql: string) => database.pool.query(sql),
    open: async () => (await verify()).open,
    repair: async () => {
      for (const round of await repairsOf(runner.db, await verifyFeeds(runner.db), lanes)) {
        await runner.run(round, new Date(startMs), 'sync');
      }
    },
  };
}

/** Batches leave the tables and the ledger. */
const forget = (numbers: string) => `
  delete from explorer.blocks where optimism_batch_number in (${numbers});
  delete from explorer.read_batches where batch_number in (${numbers});
  delete from etl.pages using etl.walks where walks.id = walk_id and batch in (${numbers});
  delete from etl.walks where batch in (${numbers})`;

test('a deleted batch is reported exactly, repaired with its own pages, and then nothing is open', async () => {
  const { query, open, repair, verify, list, database } = await copied(8);
  expect(await open()).toEqual([]);
  await query(forget('4'));
  expect(await open()).toContain('stored totals differ from the walks');
  await recountCoverage(database.db);
  expect(await open()).toEqual(['batch 4: not downloaded']);

  await repair();

  expect(list.takeRequests().map(({ batch }) => batch)).toEqual([4, 4, 4]);
  expect(await verify()).toMatchObject({
    open: [],
    covered: [{ from: 1, to: 7 }],
    head: ['batch 8: waiting for the next batch'],
  });
});

test('coverage of batches that differs from their rows is open, until it is recounted', async () => {
  const { query, open, database } = await copied(3);
  for (const change of [`read = read + '{[9,10)}'`, `verified = verified - '{[2,3)}'`]) {
    await query(`update etl.batch_coverage set ${change}`);
    expect(await open()).toContain('stored totals differ from the walks');
    await recountCoverage(database.db);
    expect(await open()).toEqual([]);
  }
});

test('an unverified batch below a verified one is open, and so are empty numbers without confirmation', async () => {
  const { list, poll, verify, runner, lanes } = await batchWorld(9);
  list.batches.set(3, fullBatch(3).toSpliced(12, 1));
  list.batches.delete(6);
  await poll(0);

  expect((await verify()).open).toEqual([
    'batch 3: heights or hashes inside do not link',
    'batches 5 to 7: heights or hashes do not link at the border',
    'batch 6: downloaded as empty, which no neighbour confirms',
  ]);
  const rounds = await repairsOf(runner.db, await verifyFeeds(runner.db), lanes);
  expect(rounds[0]?.map(({ scope }) => scope)).toEqual([{ from_batch: 5, to_batch: 7 }]);
});

test('three batches of which none is verified are open, not waiting for the next batch', async () => {
  const { list, poll, verify } = await batchWorld(3);
  for (const [number, blocks] of list.batches) {
    list.batches.set(
      number,
      blocks.map((block) => ({ ...block, isPending: true })),
    );
  }
  await poll(0);

  expect((await verify()).open).toEqual([
    'batch 1: 24 blocks to be updated by the service',
    'batches 1 to 3: none of them is verified',
    'batch 2: 24 blocks to be updated by the service',
    'batch 3: 24 blocks to be updated by the service',
  ]);
});

test('a lowest batch stays verified when the two batches above it are read again', async () => {
  const { database, query, states, repair } = await copied(4);
  await query(`${forget('2, 3')}; update etl.feeds set settings = settings || '{"parallel": 1}'`);
  await recountCoverage(database.db);

  await repair();

  expect(await states()).toEqual({ 1: 'settled', 2: 'settled', 3: 'settled', 4: 'open' });
});

test('a killed reading of the newest batch goes on, though nothing of history is due', async () => {
  const { poll, list, lanes, runner, database, membersOf } = await batchWorld(4);
  await poll(0, 'sync');
  const history = lanes.find(({ lane }) => lane.lane === 'backfill');
  if (history === undefined) throw new Error('no lane of history');
  const { lane, scope } = history;
  await openRun(runner.db, lane, scope);
  // As a process left it that was killed before its first page.
  await database.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, from_head)
     select chain_id, operation, lane, id, 'numbered', '{"batch": 4}', true
     from etl.runs where state = 'open'`,
  );
  const added = fullBatch(5)[0]?.height ?? 0;
  list.batches.set(4, [...fullBatch(4), { height: added }]);

  await poll(60, 'sync');

  expect(await membersOf(added, added)).toEqual([4]);
  expect(await database.query(`select from etl.walks where state = 'running'`)).toEqual([]);
});
