import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { recountCoverage, repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { configuredFeeds, registerFeeds } from '../../../src/sync/feeds.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openRunner } from '../../harness/runner.ts';
import { openCopy, plainChain, settingsFor } from '../../harness/sync.ts';

const operations = ['optimism-batch-blocks'] as const;

const chainOf = (count: number, changes: Partial<SimulatedChain> = {}): SimulatedChain => ({
  ...plainChain,
  batches: { first: 1, count, blocks: 20 },
  ...changes,
});

/** Two explorers of a chain, before and after new batches, and syncs that have no range. */
async function growing() {
  const gaps = { gaps: [4, 8] };
  const before = await openCopy(chainOf(12, gaps));
  const after = await openCopy(chainOf(18, gaps));
  const search = { operations, isRangeGiven: false };
  const grow = () => before.sync({ url: after.simulator.url, ...search });
  return { ...before, sync: () => before.sync(search), grow, after: after.simulator };
}

const latest = 'select latest_batch::int from etl.feeds';

test('without a range, the newest batch is searched, and all below it are read once', async () => {
  const { sync, query, differing } = await growing();

  await sync();

  expect(await query(latest)).toEqual([{ latest_batch: 12 }]);
  expect(await differing({ operations })).toEqual({});
  // One poll above, and the newest batch, which is the only one that nothing verifies yet.
  expect((await sync()).requests).toBe(1 + 1);
});

test('new batches are found and read, and none below them again', async () => {
  const { sync, grow, after, query, reports } = await growing();
  await sync();
  // A poll right above the latest batch comes every other time.
  for (let run = 0; run < 2; run += 1) await grow();

  expect(await query(latest)).toEqual([{ latest_batch: 18 }]);
  expect(after.requests).toBeLessThanOrEqual(2 * 3 + 6 + 1);
  const [report] = await reports();
  expect(report?.covered).toMatchObject([{ from: 1, to: 17 }]);
  expect(report?.head).toEqual(['batch 18: waiting for an update by the service']);
});

/** Lanes of batches of a copy, and a runner that works on them. */
async function laned(chain: SimulatedChain, parallel: number) {
  const copy = await openCopy(chain);
  const range = { fromBatch: 1, toBatch: chain.batches.count };
  const run = { url: copy.simulator.url, chains: [chain], operations, parallel, ...range };
  const runner = await openRunner(copy.database, run);
  return { ...copy, chains: settingsFor(run).chains, runner, lanes: runner.lanes };
}

test('eight parallel walks verify all but the newest batch, and read only the lowest twice', async () => {
  const { runner, lanes, simulator, pool, query, differing } = await laned(
    chainOf(24, { gapsPercent: 10 }),
    8,
  );

  expect(await runner.run(lanes, new Date(), 'sync')).toEqual(['finished']);

  expect(await differing({ operations })).toEqual({});
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  // Nothing is below the lowest: its end is requested twice.
  expect(simulator.requests).toBe(24 + 1);
  expect(
    await query('select batch_number::int from explorer.read_batches where not is_verified'),
  ).toEqual([{ batch_number: 24 }]);
});

const middle = `height = (select max(height) - 20 from explorer.blocks where optimism_batch_number = 2)`;

test.each([
  ['a deleted block', `delete from explorer.blocks where ${middle}`],
  ['another hash', `update explorer.blocks set hash = '0x' || repeat('f', 64) where ${middle}`],
  ['another batch', `update explorer.blocks set optimism_batch_number = 3 where ${middle}`],
  ['an update to come', `update explorer.blocks set is_pending_update = true where ${middle}`],
  [
    'no link at a border',
    `update explorer.blocks set parent_hash = null
     where height = (select first_height from explorer.read_batches where batch_number = 2)`,
  ],
  ['a deleted batch', 'delete from explorer.read_batches where batch_number = 2'],
  [
    'another count',
    'update explorer.read_batches set blocks_count = blocks_count - 1 where batch_number = 2',
  ],
])('%s: verify names the batch, and repair reads it again', async (_what, edit) => {
  const batches = { first: 1, count: 3, blocks: 40 };
  const { chains, runner, lanes, simulator, sync, db, query, open, differing } = await laned(
    chainOf(3, { batches }),
    1,
  );
  await sync({ operations });
  await query(edit);
  expect((await open()).join()).toMatch(/batch(?:es)? /u);

  await recountCoverage(db);
  const source = { origin: simulator.url, isSameData: true };
  await registerFeeds(db, configuredFeeds(chains), 'flags', source);
  for (const round of await repairsOf(db, await verifyFeeds(db), lanes)) {
    await runner.run(round, new Date(), 'sync');
  }

  expect(await open()).toEqual([]);
  expect(await differing({ operations })).toEqual({});
});
