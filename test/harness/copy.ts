import {
  type SimulatedChain,
  type SimulatorOptions,
  startInstantMs,
  startSimulator,
} from '../../simulator/index.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import { freshDatabase, type OpenDatabase, sharedDatabase } from './database.ts';
import { simulated } from './explorer.ts';
import { openInWords } from './verified.ts';
import { plainChain, runSync, type SyncRun } from './sync.ts';
import { differences } from './tables.ts';
import type { TruthScope } from './truth/truth.ts';

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

interface CopyOptions extends Partial<SimulatorOptions> {
  /** A fresh one if absent. */
  readonly database?: OpenDatabase;
}

/** A simulated explorer of a chain, or of some, on a clock of the test's, and a database that syncs copy it into. */
export async function openCopy(
  chain: SimulatedChain | readonly SimulatedChain[],
  { database: given, ...options }: CopyOptions = {},
) {
  const chains = 'id' in chain ? [chain] : chain;
  const { seed = copySeed } = options;
  const clock = { nowMs: 0 };
  const simulator = await simulated({ ...options, seed, chains, clock: () => clock.nowMs });
  const database = given ?? (await freshDatabase());
  const { pool, db } = database;
  const keys = options.secretKey === undefined ? {} : { secretKey: options.secretKey };
  /** Copies the lists; says what became of them, and what it cost. */
  const sync = async (run: Partial<SyncRun> = {}) => {
    const before = simulator.requests;
    const results = await runSync(database, { url: simulator.url, chains, ...keys, ...run });
    return { results, requests: simulator.requests - before };
  };
  /** Copies the lists at a simulated time. */
  const syncAt = (atMs: number, run: Partial<SyncRun> = {}) => {
    clock.nowMs = atMs;
    return sync({ at: new Date(startInstantMs + atMs), ...run });
  };
  return {
    simulator,
    database,
    pool,
    db,
    clock,
    sync,
    syncAt,
    query: async (sql: string) => (await pool.query(sql)).rows,
    /** What `verify` finds open. */
    open: async () => openInWords(await verifyFeeds(db)),
    /** Where the tables differ from the simulated truth of the first chain. */
    differing: (scope: TruthScope = {}) =>
      differences(pool, seed, chains[0] ?? plainChain, {
        ...(options.secretKey !== undefined && { withSecretKey: true }),
        ...scope,
      }),
  };
}

/** A database that the tests of a file share, with a copy of simulated chains in it. */
export const sharedCopy = (
  seed: number,
  chains: readonly SimulatedChain[],
  run: Partial<SyncRun> = {},
) =>
  sharedDatabase(async (database) => {
    const simulator = await startSimulator({ seed, chains });
    await runSync(database, { url: simulator.url, chains, ...run });
    await simulator.close();
  });
