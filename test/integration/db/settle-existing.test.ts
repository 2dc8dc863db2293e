import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../../src/simulator/index.ts';
import { freshDatabase } from '../../support/database.ts';
import { runSync } from '../../support/sync.ts';
import { differences } from '../../support/tables.ts';

const seed = 29;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 0,
  batches: { first: 1, count: 12, blocks: 20 },
  holes: [4, 9],
  factories: 0,
};

/** The statement of the migration that judges what is there already. */
async function judgement(): Promise<string> {
  const folder = join(import.meta.dirname, '../../../migrations');
  const statements = (await readFile(join(folder, '0003_settled.sql'), 'utf8')).split(
    '--> statement-breakpoint',
  );
  const found = statements.find((statement) => statement.trim().startsWith('with neighbour'));
  if (found === undefined) throw new Error('the migration judges nothing');
  return found;
}

test('batches that an older version left open are settled by the migration, without a read', async () => {
  const simulator = await startSimulator({ seed, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const operations = ['optimism-batch-blocks'] as const;
  await runSync(database, { url: simulator.url, chains: [chain], operations });
  await database.pool.query(
    `update explorer.optimism_batches
     set is_proved = false, state = case when blocks_count = 0 then 'empty' else 'open' end`,
  );

  await database.pool.query(await judgement());

  expect(await differences(database.pool, seed, chain, { operations })).toEqual({});
});
