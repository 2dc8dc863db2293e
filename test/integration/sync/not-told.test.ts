import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../src/simulator/index.ts';
import { alterExplorer, type ServedPage } from '../../support/altered-explorer.ts';
import { freshDatabase } from '../../support/database.ts';
import { runSync } from '../../support/sync.ts';

const seed = 11;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 40,
  batches: { first: 1, count: 1, blocks: 20 },
  factories: 20,
};

async function world(operation: string) {
  const explorer = await alterExplorer(seed, chain);
  const database = await freshDatabase();
  const { pool } = database;
  const sync = () => runSync(database, { url: explorer.url, chains: [chain], operations: [operation] });
  return { explorer, pool, sync };
}

type Item = Record<string, unknown>;

const each = (change: (item: Item) => void) => (page: ServedPage) => {
  for (const item of page.items) change(item);
  return page;
};
