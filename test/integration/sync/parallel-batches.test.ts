import { expect, onTestFinished, test } from 'vitest';
import { type SimulatedChain, startSimulator } from '../../../simulator/index.ts';
import { configuredLanes } from '../../../src/sync/targets.ts';
import { freshDatabase } from '../../harness/database.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { openRunner } from '../../harness/runner.ts';
import { settingsFor } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 23;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 0,
  batches: { first: 1, count: 60, blocks: 20 },
  gapsPercent: 10,
  factories: 0,
};

test('eight walks at once settle all but the newest batch, and none but the lowest is read twice', async () => {
  const simulator = await startSimulator({ seed, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const operations = ['optimism-batch-blocks'] as const;
  const settings = settingsFor({ url: simulator.url, chains: [chain], operations });
  const wide = settings.chains.map((settingsOf) => {
    const batches = settingsOf.operations['optimism-batch-blocks'];
    const parallel =
      batches === undefined ? {} : { 'optimism-batch-blocks': { ...batches, parallel: 8 } };
    return { ...settingsOf, operations: { ...settingsOf.operations, ...parallel } };
  });
  const runner = await openRunner(database, { ...settings, chains: wide });

  const lanes = configuredLanes(wide, { fromBatch: 1, toBatch: 60 });
  expect(await runner.run(lanes, new Date(), 'sync')).toEqual(['finished']);

  expect(await differences(database.pool, seed, chain, { operations })).toEqual({});
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
  // Nobody is below the lowest: its end is requested twice.
  expect(simulator.requests).toBe(60 + 1);
  const { rows } = await database.pool.query<{ batch_number: string }>(
    'select batch_number from explorer.read_batches where not is_verified',
  );
  expect(rows).toEqual([{ batch_number: '60' }]);
});
