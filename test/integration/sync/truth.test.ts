import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Family,
  type Generation,
  type SimulatedChain,
  startSimulator,
} from '../../../simulator/index.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 7;

const chainOf = (family: Family, generation: Generation): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family,
  generation,
  userOperations: 330,
  batches: { first: 1, count: 27, blocks: 24 },
  gaps: [4],
  factories: 70,
});

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v10', 'v11', 'v12'];

describe.each(families)('a chain of the %s family', (family) => {
  test.each(generations)('is copied row for row from generation %s', async (generation) => {
    const chain = chainOf(family, generation);
    const secretKey = 'secret-of-the-key';
    const simulator = await startSimulator({ seed, chains: [chain], secretKey });
    onTestFinished(() => simulator.close());
    const database = await freshDatabase();

    const results = await runSync(database, {
      url: simulator.url,
      chains: [chain],
      operations: operationNames,
      pageSize: 20,
      secretKey,
    });

    expect(results.map(({ state, reason }) => ({ state, reason }))).toEqual(
      Array.from({ length: operationNames.length }, () => ({ state: 'finished', reason: null })),
    );
    expect(
      await differences(database.pool, seed, chain, {
        operations: operationNames,
        withSecretKey: true,
      }),
    ).toEqual({});
  });
});
