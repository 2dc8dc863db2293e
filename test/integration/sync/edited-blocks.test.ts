import { expect, test } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { configuredFeeds, configuredLanes } from '../../../src/sync/targets.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openInWords } from '../../harness/findings.ts';
import { openRunner } from '../../harness/runner.ts';
import { runSync, settingsFor } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';
import { copySeed, smallChain } from './copy.ts';

const operations = ['optimism-batch-blocks'] as const;
const chain = smallChain({ batches: { first: 1, count: 3, blocks: 40 } });
const middle = `height = (select max(height) - 20 from explorer.blocks where optimism_batch_number = 2)`;

test.each([
  ['a deleted block', `delete from explorer.blocks where ${middle}`],
  ['another hash', `update explorer.blocks set hash = '0x' || repeat('f', 64) where ${middle}`],
  ['another batch', `update explorer.blocks set optimism_batch_number = 3 where ${middle}`],
  ['no batch', `update explorer.blocks set optimism_batch_number = null where ${middle}`],
  ['an update to come', `update explorer.blocks set is_pending_update = true where ${middle}`],
  ['no block at all', 'delete from explorer.blocks where optimism_batch_number = 2'],
  ['a deleted batch', 'delete from explorer.read_batches where batch_number = 2'],
  [
    'another count',
    'update explorer.read_batches set blocks_count = blocks_count - 1 where batch_number = 2',
  ],
])('%s: verify names the batch, and repair reads it again', async (_what, edit) => {
  const simulator = await startSimulator({ seed: copySeed, chains: [chain] });
  try {
    const database = await freshDatabase();
    await runSync(database, { url: simulator.url, chains: [chain], operations });
    await database.pool.query(edit);
    const settings = settingsFor({ url: simulator.url, chains: [chain], operations });
    const runner = await openRunner(database, settings);
    const reports = await verifyFeeds(runner.db);
    expect(openInWords(reports).join()).toMatch(/batch(?:es)? /u);

    await registerFeeds(runner.db, configuredFeeds(settings.chains), 'flags', {
      origin: simulator.url,
      isSameData: true,
    });
    const lanes = configuredLanes(settings.chains, { fromBatch: 1, toBatch: 3 });
    for (const round of await repairsOf(runner.db, reports, lanes)) {
      await runner.run(round, new Date(), 'sync');
    }

    expect(openInWords(await verifyFeeds(runner.db))).toEqual([]);
    expect(await differences(database.pool, copySeed, chain, { operations })).toEqual({});
  } finally {
    await simulator.close();
  }
});
