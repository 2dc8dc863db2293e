import { type SimulatedChain, startSimulator } from '../../../simulator/index.ts';
import { grantRoles } from '../../../src/db/roles.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { sumUp } from '../../harness/sums.ts';
import { runSync } from '../../harness/sync.ts';

export const chains: SimulatedChain[] = [10, 42220].map((id) => ({
  id,
  name: `chain ${id}`,
  family: 'optimism',
  generation: 'v12',
  userOperations: 200,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 30,
}));

/** A copy of all lists of two chains, summed up, with the analyst's role. */
export async function copiedForAnalysts(): Promise<TestDatabase> {
  const simulator = await startSimulator({ seed: 9, chains });
  const database = await createTestDatabase();
  await runSync(database, { url: simulator.url, chains, operations: operationNames });
  await simulator.close();
  await sumUp(database.pool);
  await grantRoles(database.pool);
  return database;
}
