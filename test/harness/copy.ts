import {
  type SimulatedChain,
  type SimulatorOptions,
  startInstantMs,
  startSimulator,
} from '../../simulator/index.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import { freshDatabase, type OpenDatabase, sharedDatabase } from './database.ts';
import { alterablePages, simulated } from './explorer.ts';
import { keepLists } from './kept.ts';
import { inWords } from './verified.ts';
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
  /** What each sync is told unless it says otherwise. */
  readonly run?: Partial<SyncRun>;
}

/** Syncs of an explorer into a database, and what is there then. */
function follower(database: OpenDatabase, usual: SyncRun, countRequests: () => number) {
  const { pool, db, query } = database;
  const reports = async () => (await verifyFeeds(db)).map(inWords);
  return {
    database,
    pool,
    db,
    /** Copies the lists; says what became of them, and what it cost. */
    sync: async (run: Partial<SyncRun> = {}) => {
      const before = countRequests();
      const results = await runSync(database, { ...usual, ...run });
      return { results, requests: countRequests() - before };
    },
    query,
    /** What `verify` says of each feed. */
    reports,
    /** What `verify` finds open. */
    open: async () => (await reports()).flatMap(({ open }) => open),
  };
}

/** Lists that a test keeps by hand, and a database that syncs copy them into. */
export async function followLists(
  lists: Parameters<typeof keepLists>[0],
  run: Partial<SyncRun> = {},
) {
  const list = await keepLists(lists);
  let requests = 0;
  const usual = { url: list.url, chains: [plainChain], operations: ['user-operations'], ...run };
  const count = () => (requests += list.takeRequests().length);
  return { list, ...follower(await freshDatabase(), usual, count) };
}

/**
 * A simulated explorer of a chain, or of some, on a clock of the test's, whose pages the test may change, and a
 * database that syncs copy it into.
 */
export async function openCopy(
  chain: SimulatedChain | readonly SimulatedChain[],
  { database, run = {}, ...options }: CopyOptions = {},
) {
  const chains = 'id' in chain ? [chain] : chain;
  const { seed = copySeed, secretKey: key } = options;
  const clock = { nowMs: 0 };
  const served = alterablePages();
  const service = { faults: served.faults, ...options };
  const simulator = await simulated({ ...service, seed, chains, clock: () => clock.nowMs });
  const usual = {
    url: simulator.url,
    chains,
    ...(key !== undefined && { secretKey: key }),
    ...run,
  };
  const copy = follower(database ?? (await freshDatabase()), usual, () => simulator.requests);
  return {
    ...copy,
    simulator,
    served,
    clock,
    /** Copies the lists at a simulated time. */
    syncAt: (atMs: number, changes: Partial<SyncRun> = {}) => {
      clock.nowMs = atMs;
      return copy.sync({ at: new Date(startInstantMs + atMs), ...changes });
    },
    /** Where the tables differ from the simulated truth of the first chain. */
    differing: (scope: TruthScope = {}) => {
      const seen = { ...(key !== undefined && { withSecretKey: true }), ...scope };
      return differences(copy.pool, seed, chains[0] ?? plainChain, seen);
    },
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
