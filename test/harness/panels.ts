import { expect } from 'vitest';
import type { Database } from '../../src/db/transaction.ts';
import type { StatusDocument } from '../../src/documents/status.ts';
import { readAssets } from '../../src/http/assets.ts';
import { createPages } from '../../src/http/pages.ts';
import { describeStatus } from '../../src/report/status-document.ts';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { runSync, testKey } from './sync.ts';

const chains: SimulatedChain[] = [10, 42220].map((id) => ({
  id,
  name: `chain ${id}`,
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 60 },
  factories: 20,
  // Its newest items are of the last hours, as those of a live chain are.
  startsAtMs: Date.now() - 2 * 3_600_000,
}));

/** Two simulated chains, copied, with their pages archived. */
export async function copiedChains(): Promise<TestDatabase> {
  const simulator = await startSimulator({ seed: 11, chains, apiKey: testKey });
  const database = await createTestDatabase();
  await runSync(database, { url: simulator.url, chains, archive: 'all' });
  await simulator.close();
  return database;
}

/** A panel as it is served, from a database with a status of that moment unless one is told. */
export async function servedPanel(
  id: string,
  query: Readonly<Record<string, string>>,
  { from, told }: { readonly from: Database; readonly told?: StatusDocument },
): Promise<string> {
  const app = createPages({
    db: from,
    status: async () => told ?? describeStatus(from, { pageSize: 50, standby: null }),
    called: (command) => command,
    assets: readAssets(),
  });
  const answer = await app.request(`/panels/${id}?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return answer.text();
}
