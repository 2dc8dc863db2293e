import {
  alterPage,
  type SimulatedChain,
  type SimulatorOptions,
  startInstantMs,
  startSimulator,
} from '../../simulator/index.ts';
import type { Engine } from '../../src/app.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { ChainSettings, Settings } from '../../src/config/settings.ts';
import type { Timeouts } from '../../src/explorer/client.ts';
import type { ScopeBounds } from '../../src/lists/list.ts';
import type { ResweepRule } from '../../src/lists/newest-first/run.ts';
import { isOperation, operations } from '../../src/lists/registry.ts';
import type { LogLevel } from '../../src/log.ts';
import { verifyFeeds } from '../../src/status/verify.ts';
import { configuredLanes } from '../../src/sync/feeds.ts';
import { syncOnce, type SyncResult } from '../../src/sync/once.ts';
import type { TruthScope } from '../truth/truth.ts';
import {
  filledDatabase,
  type OpenDatabase,
  sharedDatabase,
  syncedDatabase,
  type UsedDatabase,
} from './database.ts';
import { openSyncEngine, sharedEngine } from './engines.ts';
import { plainChain, type ServedPage, simulated, testKey } from './explorer.ts';
import { keepLists } from './kept.ts';
import { inWords } from './ledger.ts';
import { coreLists, differences } from './tables.ts';

export { plainChain } from './explorer.ts';

/** A chain with a few pages of each usual list. */
export const shortChain = {
  ...plainChain,
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
} as const satisfies SimulatedChain;

/** Faster than any test can ask. */
const unlimited = 100_000;

/** `again`: reads known history again, and nothing else, as `backfill --again` does. */
export interface SyncRun extends ScopeBounds {
  readonly url: string;
  readonly chains: readonly SimulatedChain[];
  /** Default: the lists that a moving world's truth covers. */
  readonly operations?: readonly string[];
  readonly pageSize?: number;
  readonly secretKey?: string;
  readonly logLevel?: LogLevel;
  /** Whether every batch of the chain is requested by its number; else the latest batch is searched. */
  readonly isRangeGiven?: boolean;
  readonly signal?: AbortSignal;
  /** Whether bodies are archived. */
  readonly archive?: 'off' | 'all';
  /** Replaces the overlap of the live lane, in ms. */
  readonly overlapMs?: number;
  /** Replaces `since` of the configuration; `since` is that of the command. */
  readonly listSince?: string;
  /** Replaces the resweep rules. */
  readonly resweep?: readonly ResweepRule[];
  /** Replace the client's own. */
  readonly timeouts?: Partial<Timeouts>;
  /** How many walks read a list at once, at most; by default history is read by one, so that requests are foreseen. */
  readonly parallel?: number;
  /** The time of day that the sync believes in; default the real one. */
  readonly at?: Date;
}

/** Settings for a simulated explorer, with every batch of each chain in range. */
export function settingsFor(run: SyncRun): Settings {
  const settings = loadSettings({
    cwd: '/',
    env: {
      EXPLORER_BASE_URL: run.url,
      EXPLORER_API_KEY: testKey,
      ...(run.secretKey !== undefined && { EXPLORER_SECRET_KEY: run.secretKey }),
    },
    chains: run.chains.map(({ id }) => String(id)),
    operations: run.operations ?? coreLists,
  });
  return {
    ...settings,
    explorer: {
      ...settings.explorer,
      requestsPerSecond: unlimited,
      pageSize: run.pageSize ?? settings.explorer.pageSize,
      archive: run.archive ?? 'off',
    },
    chains: settings.chains.map((chain) => withDepths(chain, run)),
  };
}

/** Whether a list is newest first, and has blocks. */
export const isOfBlocks = (name: string): boolean =>
  isOperation(name) &&
  operations[name].kind === 'newest-first' &&
  operations[name].order?.unit === 'blocks';

function withDepths(
  chain: ChainSettings,
  { overlapMs, resweep, listSince, parallel }: SyncRun,
): ChainSettings {
  const ofAll = parallel === undefined ? {} : { parallel };
  const ofBlocks = {
    parallel: 1,
    ...(overlapMs !== undefined && { overlapMs }),
    ...(resweep !== undefined && { resweep }),
    ...(listSince !== undefined && { since: listSince }),
  };
  const changed = Object.entries(chain.operations).map(([name, list]) => [
    name,
    { ...list, ...(isOfBlocks(name) && ofBlocks), ...ofAll },
  ]);
  return { ...chain, operations: Object.fromEntries(changed) };
}

/** One sync of simulated chains into a test database, through the product's own composition. */
export async function runSync(database: UsedDatabase, run: SyncRun): Promise<SyncResult[]> {
  const engine = await openSyncEngine(database, settingsFor(run), run);
  try {
    return await syncWith(engine, run);
  } finally {
    await engine.close();
  }
}

/** As `runSync`, with an engine that later syncs of the same settings use too. */
export const syncShared = async (database: UsedDatabase, run: SyncRun) =>
  syncWith(await sharedEngine(database, settingsFor(run), run), run);

function syncWith(engine: Engine, run: SyncRun): Promise<SyncResult[]> {
  const targets = settingsFor(run).chains.flatMap((chain) => {
    const served = run.chains.find(({ id }) => id === chain.id);
    const { first, count } = served?.batches ?? { first: 1, count: 0 };
    const range = { fromBatch: first, toBatch: first + count - 1 };
    const bounds = run.isRangeGiven === false ? run : { ...range, ...run };
    return configuredLanes([chain], bounds).flatMap(({ lane, scope }) =>
      run.again !== true || lane.lane === 'backfill' ? [{ lane, scope }] : [],
    );
  });
  const { at } = run;
  const clock = at === undefined ? engine.clock : () => at;
  return syncOnce(targets, { ...engine, clock }, run.signal ?? new AbortController().signal);
}

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
  /** What each sync has unless it says otherwise. */
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
      const results = await syncShared(database, { ...usual, ...run });
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
  database?: OpenDatabase,
) {
  const list = await keepLists(lists);
  let requests = 0;
  const usual = { url: list.url, chains: [plainChain], operations: ['user-operations'], ...run };
  const count = () => (requests += list.takeRequests().length);
  return { list, ...follower(database ?? (await syncedDatabase()), usual, count) };
}

/** Lists that a test keeps by hand, and a database that has a copy of them already, of a sync with `first`. */
export async function followCopied(
  lists: Parameters<typeof keepLists>[0],
  run: Partial<SyncRun> = {},
  first: Partial<SyncRun> = {},
) {
  const database = await filledDatabase([lists, run, first], async (empty) => {
    const { url, close } = await keepLists(lists);
    const usual = { url, chains: [plainChain], operations: ['user-operations'] };
    await syncShared(empty, { ...usual, ...run, ...first });
    await close();
  });
  return followLists(lists, run, database);
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
  const served = {
    /** What becomes of each page from now on. */
    alter: (page: ServedPage, _url: URL): unknown => page,
  };
  const faults = () =>
    alterPage((page, url) => served.alter(page as ServedPage, url) as ServedPage);
  const simulator = await simulated({
    faults,
    ...options,
    seed,
    chains,
    clock: () => clock.nowMs,
  });
  const usual = {
    url: simulator.url,
    chains,
    ...(key !== undefined && { secretKey: key }),
    ...run,
  };
  const copy = follower(database ?? (await syncedDatabase()), usual, () => simulator.requests);
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

/** As `openCopy`, of a database that has a copy of the chain already, of a sync with `first`. */
export async function openCopied(
  chain: SimulatedChain | readonly SimulatedChain[],
  { run = {}, seed = copySeed, ...options }: Omit<CopyOptions, 'database'> = {},
  first: Partial<SyncRun> = {},
) {
  const chains = 'id' in chain ? [chain] : chain;
  const wanted = { ...run, ...first };
  const database = await filledDatabase([seed, chains, wanted], async (empty) => {
    const simulator = await simulated(firstMoment(seed, chains, wanted));
    await syncShared(empty, { url: simulator.url, chains, ...wanted });
    await simulator.close();
  });
  return openCopy(chain, { ...options, run, seed, database });
}

/** A database that the tests of a file share, with a copy of simulated chains in it. */
export const sharedCopy = (
  seed: number,
  chains: readonly SimulatedChain[],
  run: Partial<SyncRun> = {},
) =>
  sharedDatabase(async (database) => {
    const simulator = await startSimulator(firstMoment(seed, chains, run));
    await runSync(database, { url: simulator.url, chains, ...run });
    await simulator.close();
  });

/** Honest chains at their first moment. */
const firstMoment = (
  seed: number,
  chains: readonly SimulatedChain[],
  { secretKey: key }: Partial<SyncRun>,
): SimulatorOptions => ({ seed, chains, clock: () => 0, ...(key && { secretKey: key }) });
