import { drizzle } from 'drizzle-orm/node-postgres';
import type { SimulatedChain, SimulatorOptions } from '../../../simulator/index.ts';
import { simulated } from '../../harness/explorer.ts';
import { openInWords } from '../../harness/findings.ts';
import { freshDatabase } from '../../harness/database.ts';
import { plainChain, runSync, type SyncRun } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import type { TruthScope } from '../../harness/truth/truth.ts';

/** What the chains of these tests are made from. */
export const copySeed = 5;
export const secretKey = 'secret-of-the-key';

/** A chain with a few pages of everything; `changes` make it special. */
export const smallChain = (changes: Partial<SimulatedChain>): SimulatedChain => ({
  ...plainChain,
  family: 'arbitrum',
  userOperations: 460,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 210,
  ...changes,
});

/** A simulated explorer of a chain, and a database that syncs copy it into. */
export async function openCopy(chain: SimulatedChain, options: Partial<SimulatorOptions> = {}) {
  const simulator = await simulated({ seed: copySeed, chains: [chain], ...options });
  const database = await freshDatabase();
  const { pool } = database;
  const db = drizzle(pool);
  /** Copies the lists; says what became of them, and what it cost. */
  const sync = async (run: Partial<SyncRun> = {}) => {
    const before = simulator.requests;
    const keys = options.secretKey === undefined ? {} : { secretKey: options.secretKey };
    const results = await runSync(database, {
      url: simulator.url,
      chains: [chain],
      ...keys,
      ...run,
    });
    return { results, requests: simulator.requests - before };
  };
  return {
    simulator,
    database,
    pool,
    db,
    sync,
    query: async (sql: string) => (await pool.query(sql)).rows,
    /** What `verify` finds open. */
    open: async () => openInWords(await verifyFeeds(db)),
    /** Where the tables differ from the simulated truth. */
    differing: (scope: TruthScope = {}) =>
      differences(pool, options.seed ?? copySeed, chain, {
        ...(options.secretKey !== undefined && { withSecretKey: true }),
        ...scope,
      }),
  };
}
