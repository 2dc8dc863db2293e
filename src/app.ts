import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { exposureOf } from './config/schema.ts';
import {
  type ApiKey,
  passwordsOf,
  requireApiKey,
  secretsOf,
  type Settings,
} from './config/settings.ts';
import { codeOfFailure, isLastingFault, isPermissionDenied, MigrationError } from './db/failure.ts';
import { dataProblems, problemsOf } from './db/fitness.ts';
import { type Waiting, withAdvisoryLock } from './db/lock.ts';
import { migrate, readSchema, type Migrated } from './db/migrate.ts';
import { type DatabaseTimeouts, openWorkPools, ownConnections, workTimeouts } from './db/pool.ts';
import { areRolesGranted, grantRoles } from './db/roles.ts';
import { demandSession } from './db/route.ts';
import type { Database } from './db/transaction.ts';
import { openBudget } from './explorer/budget.ts';
import { limitsOf } from './explorer/key.ts';
import { createExplorerClient, type ExplorerClient, type Timeouts } from './explorer/client.ts';
import { createFetcher } from './explorer/fetcher.ts';
import { Host } from './explorer/host.ts';
import { type Feed, feedName } from './lists/feed.ts';
import type { ScopeBounds } from './lists/list.ts';
import { listViews } from './lists/views.ts';
import type { Log } from './log.ts';
import {
  configuredFeeds,
  configuredLanes,
  originOf,
  reconcileTargets,
  registerFeeds,
  withTargets,
} from './sync/feeds.ts';
import { type ChangedFeed, changeText } from './sync/changes.ts';
import { disagreementError, disagreements, wantLanes } from './sync/lanes.ts';
import type { FetchPage } from './sync/page.ts';
import { bossConnections, hasQueues, installQueues, startBoss } from './sync/queue.ts';
import { noteTrouble } from './sync/runs.ts';
import type { ServeOptions } from './sync/serve.ts';
import { presentWorkers } from './sync/workers.ts';

/** See docs/decisions/0002-page-transaction.md. */
const waitingPages = {
  /** Sixteen of the service's pages are 1 MB. */
  mostBytes: 2 * 1024 * 1024,
  /** What a kill may additionally lose, and how much later a long walk's rows appear. */
  gatherMs: 1_000,
};
/** Per process: several feeds wait for the network at once. */
const slicesAtOnce = 8;
/** One per database while pg-boss's schema is made: "etljobs" in ASCII. */
const installLock = { key: 0x65_74_6c_6a_6f_62_73n, work: 'makes the queue' };

/** A database: its address, and connections to it. */
interface DatabaseHandle {
  readonly url: string;
  readonly pool: Pool;
}

/**
 * Migrates this program's schema and pg-boss's, and grants rights if there are roles. Safe from any number of
 * processes; it only reads if nothing is missing. Waits silently for ever without `waiting`.
 * @throws MigrationError, also if something is missing and this role may not create it
 */
export async function prepareDatabase(
  { url, pool }: DatabaseHandle,
  waiting?: Waiting,
): Promise<Migrated> {
  try {
    const result = await migrate(pool, listViews(), undefined, waiting);
    const isMade = await hasQueues(pool);
    if (!isMade) {
      await withAdvisoryLock(pool, installLock, () => installQueues({ url, pool }), waiting);
    }
    if ((!isMade || result.applied + result.views > 0) && (await areRolesGranted(pool))) {
      await grantRoles(pool);
    }
    return result;
  } catch (error) {
    const isDenied = isPermissionDenied(error);
    // duplicate_table
    if (!isDenied && codeOfFailure(error) !== '42P07') throw error;
    // A role that may not even read what is applied lacks rights; the version may be right.
    if (isDenied) await readSchema(pool);
    const found = isDenied ? problemsOf(pool, 'rights', [false]) : dataProblems(pool, false);
    const [problem = 'its owner has to migrate it'] = await found;
    const message = `The database is not of this version yet: ${problem}.`;
    throw new MigrationError(message, { cause: error });
  }
}

export interface Engine extends ServeOptions, AsyncDisposable {
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly settings: Settings;
  readonly database: DatabaseHandle;
  readonly log: Log;
  /** Of a process that may open an engine again; drawn if absent. */
  readonly workerId?: string;
  /** A command's bounds: from now on the target of the feeds that they concern, where no file names them. */
  readonly bounds?: ScopeBounds;
  readonly source?: SourceOptions;
  /** `workTimeouts` if absent. */
  readonly dbTimeouts?: DatabaseTimeouts;
  /** Override those of the explorer client. */
  readonly timeouts?: Partial<Timeouts>;
}

/** What a command states besides its settings. */
export interface SourceOptions {
  /** Whether it serves the same chains as the explorer that the data came from. */
  readonly sameData?: boolean;
  /** Identifies it if its URL changes from run to run. */
  readonly origin?: string;
  /** Whether feeds that other deployments at work want otherwise become this one's. */
  readonly takeOver?: boolean;
  /** Whether the process goes on after a fault: what others have taken over since is theirs. */
  readonly isReopened?: boolean;
  /** Whether the settings have all that the file wants, so that it wants nothing else any more. */
  readonly isWhole?: boolean;
}

/**
 * Registers the feeds of the settings, and composes client, budget and queue on a prepared database.
 * @throws ConfigError without an API key, OriginError if feeds are of another explorer, DeploymentError if another
 * deployment wants them otherwise, PoolerError without a session
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { settings, database, log, dbTimeouts = workTimeouts, timeouts = {} } = options;
  const { url } = database;
  const { pageSize, archive, archiveDays, ledgerDays } = settings.explorer;
  const session = await demandSession(url);
  const forPages = settings.connections - ownConnections - bossConnections;
  await using end = new AsyncDisposableStack();
  const { pool, budgetPool } = openWorkPools(session, dbTimeouts, forPages);
  end.defer(() => pool.end());
  end.defer(() => budgetPool.end());
  const db = drizzle(pool);
  log.conceal([...secretsOf(settings), ...passwordsOf(url)]);
  const keys = requireApiKey(settings);
  const exposure = exposureOf(settings.explorer.baseUrl);
  if (exposure !== null) log.write('explorer.unencrypted', { problem: exposure });
  const registered = await registerSettings(db, settings, options.source ?? {}, options.bounds);
  const { origin, changed, retired } = registered;
  if (changed.length > 0 && settings.configFile !== null)
    log.write('config.changed', { detail: changed.map(changeText).join('. ') });
  if (retired.length > 0) {
    const { start } = await presentWorkers(db, settings.deployment);
    log.write('config.retired', { detail: retired.join(', '), workers: start });
  }
  const host = new Host({
    pool: budgetPool,
    origin,
    sleep,
    now: monotonicMs,
    onTrouble: (request, trouble) => noteTrouble(db, request, trouble),
    by: pool,
  });
  const wayOf = await openWays(settings, keys, { by: pool, pool: budgetPool, timeouts, end });
  const broken = new AbortController();
  const report = (error: unknown) => isLastingFault(error) && broken.abort(error);
  const boss = await startBoss({ ...session, log, dbTimeouts, report });
  end.defer(() => boss.stop({ graceful: false }));
  const opened = end.move();
  return {
    db,
    pool,
    aside: drizzle(budgetPool),
    boss,
    log,
    workerId: options.workerId ?? randomUUID(),
    deployment: settings.deployment,
    limits: limitsOf(keys.values()),
    broken: broken.signal,
    report,
    concurrency: slicesAtOnce,
    pageSize,
    archive,
    archiveDays,
    ledgerDays,
    waiting: waitingPages,
    host,
    fetchPage: (request, signal) => wayOf(request.chainId).fetchPage(request, signal),
    keyVariable: (chainId) => wayOf(chainId).variable,
    chainsOfKey: (chainId) => [...keys.keys()].filter((id) => keys.get(id) === keys.get(chainId)),
    ...world,
    origin,
    close: () => opened.disposeAsync(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Registers the feeds of the settings, and that their deployment wants them. @returns the name of their explorer,
 * the feeds that had other settings, and those that no deployment wants any more
 * @throws OriginError, DeploymentError
 */
export async function registerSettings(
  db: Database,
  { configFile, deployment, chains, explorer }: Settings,
  stated: SourceOptions,
  bounds?: ScopeBounds,
): Promise<{
  readonly origin: string;
  readonly changed: readonly ChangedFeed[];
  readonly retired: readonly string[];
}> {
  const { sameData = false, origin = originOf(explorer.baseUrl) } = stated;
  const { takeOver = false, isWhole = false, isReopened = false } = stated;
  const from = configFile === null ? 'flags' : 'file';
  const source = { origin, isSameData: sameData };
  const all = configuredFeeds(chains, bounds);
  const found = await disagreements(db, all, deployment);
  if (found.length > 0 && !takeOver && !isReopened) throw disagreementError(found);
  const others = new Set(found.map(({ feed }) => feed));
  const isOurs = (feed: Feed) => !isReopened || !others.has(feedName(feed));
  const changed = await registerFeeds(db, all.filter(isOurs), from, source);
  const every = configuredLanes(await withTargets(db, { configFile, chains }));
  const lanes = every.filter(({ lane }) => isOurs(lane));
  const claim = { deployment, isWhole, takes: isReopened ? [] : [...others] };
  const wanted = lanes.map(({ lane }) => lane);
  const retired = await wantLanes(db, wanted, claim);
  // Without a file a command's flags state the target.
  if (from === 'file') await reconcileTargets(db, lanes);
  return { origin, changed, retired };
}

const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
const monotonicMs = () => performance.now();
const world = { now: monotonicMs, random: Math.random, clock: () => new Date() };

interface Way {
  readonly variable: string;
  readonly fetchPage: FetchPage;
}

interface WayOptions {
  readonly by: object;
  readonly pool: Pool;
  readonly timeouts: Partial<Timeouts>;
  /** Closes the clients. */
  readonly end: AsyncDisposableStack;
}

/** Opens a client and a budget for each key. */
async function openWays(
  settings: Settings,
  keys: ReadonlyMap<number, ApiKey>,
  { by, pool, timeouts, end }: WayOptions,
): Promise<(chainId: number) => Way> {
  const ways = new Map<ApiKey | undefined, Way>();
  const file = settings.configFile === null ? '' : ` in ${settings.configFile}`;
  const own = { pool, sleep, now: monotonicMs, limitName: `daily_credits${file}` };
  for (const key of new Set(keys.values())) {
    const client = openClient(settings, key, timeouts);
    end.defer(() => client.close());
    const budget = await openBudget({ ...key, ...own });
    const fetchPage = createFetcher({ client, budget, by });
    ways.set(key, { variable: key.variable, fetchPage });
  }
  const [first] = ways.values();
  return (chainId) => {
    // A chain that only other processes configure is read with a key of ours.
    const way = ways.get(keys.get(chainId)) ?? first;
    if (way === undefined) throw new Error(`no key for chain ${chainId}`);
    return way;
  };
}

/** The explorer's client with one of the keys. */
export const openClient = (
  { explorer: { baseUrl, proxy } }: Pick<Settings, 'explorer'>,
  { apiKey, secretKey }: Pick<ApiKey, 'apiKey' | 'secretKey'>,
  timeouts: Partial<Timeouts> = {},
): ExplorerClient =>
  createExplorerClient({
    baseUrl,
    proxy,
    apiKey,
    secretKey,
    timeouts,
    random: Math.random,
    now: monotonicMs,
    sleep,
  });
