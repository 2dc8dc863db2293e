import { expect } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { recountCoverage, repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { configuredFeeds, registerFeeds } from '../../../src/sync/feeds.ts';
import { openRunner } from '../../harness/runner.ts';
import { openCopy, plainChain, settingsFor } from '../../harness/sync.ts';

export const operations = ['optimism-batch-blocks'] as const;

export const chainOf = (count: number, changes: Partial<SimulatedChain> = {}): SimulatedChain => ({
  ...plainChain,
  batches: { first: 1, count, blocks: 20 },
  ...changes,
});

/** Lanes of batches of a copy, and a runner that works on them. */
export async function laned(chain: SimulatedChain, parallel: number) {
  const copy = await openCopy(chain);
  const range = { fromBatch: 1, toBatch: chain.batches.count };
  const run = { url: copy.simulator.url, chains: [chain], operations, parallel, ...range };
  const runner = await openRunner(copy.database, run);
  return { ...copy, chains: settingsFor(run).chains, runner, lanes: runner.lanes };
}

/** An edit of a copy of three batches: verify names the batch, and repair reads it again. */
export async function expectRepaired(edit: string): Promise<void> {
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
}

const middle = `height = (select max(height) - 20 from explorer.blocks where optimism_batch_number = 2)`;

/** Edits that a copy is left with by hand, or by a fault of ours. */
export const edits = {
  'a deleted block': `delete from explorer.blocks where ${middle}`,
  'another hash': `update explorer.blocks set hash = '0x' || repeat('f', 64) where ${middle}`,
  'another batch': `update explorer.blocks set optimism_batch_number = 3 where ${middle}`,
  'an update to come': `update explorer.blocks set is_pending_update = true where ${middle}`,
  'no link at a border': `
    update explorer.blocks set parent_hash = null
    where height = (select first_height from explorer.read_batches where batch_number = 2)`,
  'a deleted batch': 'delete from explorer.read_batches where batch_number = 2',
  'another count':
    'update explorer.read_batches set blocks_count = blocks_count - 1 where batch_number = 2',
} as const;
