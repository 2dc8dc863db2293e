import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { requireApiKey, type Settings } from './config/settings.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './db/embedded/postgres.ts';
import { describeDatabaseError } from './db/failure.ts';
import { withAdvisoryLock } from './db/lock.ts';
import { migrate } from './db/migrate.ts';
import { createPool } from './db/pool.ts';
import type { Database } from './db/transaction.ts';
import { openBudget, type Budget } from './explorer/budget.ts';
import { parseBody } from './explorer/body.ts';
import { createExplorerClient, type ExplorerClient } from './explorer/client.ts';
import { createRedactor } from './explorer/redact.ts';
import { configuredFeeds } from './feeds/lanes.ts';
import { registerFeeds } from './feeds/register.ts';
import { installQueues, startBoss } from './jobs/boss.ts';
import type { ServeOptions } from './jobs/serve.ts';
import type { Log } from './log.ts';
import type { FetchPage } from './walk/fetch.ts';

/** Pages that may wait to be written: some MB at most (docs/decisions/0003-read-ahead.md). */
const readAheadPages = 16;
/** Slices at once in one process; several feeds wait for the network side by side. */
const slicesAtOnce = 8;
/** Connections: a transaction for each slice's walkers, the watch, progress lines. */
const poolConnections = 12;
/** Connections that only reserve request slots. */
const budgetConnections = 4;
/** One for every explorer-etl on a database, while pg-boss's schema is made. */
const installLock = 0x65_74_6c_6a_6f_62_73n;

/** The database that was named does not answer, or lets nobody in. Names no password. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/** A database that is reachable and ours to use until closed. */
export interface OpenDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly db: Database;
  /** Null when `DATABASE_URL` names the server. */
  readonly embedded: EmbeddedPostgres | null;
  close(): Promise<'stopped' | 'left-running'>;
}

/**
 * Opens the database that the settings name, or the embedded one below `cwd`, and checks that it
 * answers. `name` chooses a database of the embedded server.
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl'>,
  { cwd, name = 'postgres' }: { readonly cwd: string; readonly name?: string },
): Promise<OpenDatabase> {
  const embedded =
    settings.databaseUrl === null
      ? await startEmbeddedPostgres({ directory: join(cwd, '.explorer-etl') })
      : null;
  const url = settings.databaseUrl ?? (await databaseOf(embedded, name));
  const pool = createPool({ url, max: poolConnections, applicationName: 'explorer-etl' });
  const close = async () => {
    await pool.end();
    return (await embedded?.release()) ?? 'left-running';
  };
  try {
    await pool.query('select 1');
  } catch (error) {
    await close();
    throw new DatabaseUnavailableError(
      `the database can't be used: ${describeDatabaseError(error)}. Check DATABASE_URL.`,
    );
  }
  return { url, pool, db: drizzle(pool), embedded, close };
}

async function databaseOf(embedded: EmbeddedPostgres | null, name: string): Promise<string> {
  if (embedded === null) throw new Error('no server');
  const url = new URL(embedded.url);
  const server = createPool({ url: embedded.url, max: 1, applicationName: 'explorer-etl' });
  try {
    const { rows } = await server.query('select from pg_database where datname = $1', [name]);
    if (rows.length === 0) await server.query(`create database "${name}"`);
  } finally {
    await server.end();
  }
  url.pathname = `/${name}`;
  return url.href;
}

/** Brings the schema up to this program: ours, then pg-boss's. Safe from any number of processes. */
export async function prepareDatabase({ url, pool }: OpenDatabase): Promise<{ applied: number }> {
  const result = await migrate(pool);
  await withAdvisoryLock(pool, installLock, () => installQueues(url));
  return result;
}

/** All that work on feeds needs, composed. */
export interface Engine extends ServeOptions {
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly log: Log;
  /** Whether this process runs schedules and pg-boss's housekeeping. */
  readonly supervise: boolean;
  readonly onCommit?: ServeOptions['onCommit'];
}

/**
 * Registers the feeds of the settings, and composes client, budget and queue on a prepared
 * database.
 *
 * @throws ConfigError without an API key
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { settings, database, log, supervise } = options;
  const { db, pool, url } = database;
  const client = openClient(settings);
  await registerFeeds(db, configuredFeeds(settings.chains));
  const budgetPool = createPool({
    url: withoutWaitingForDisk(url),
    max: budgetConnections,
    applicationName: 'explorer-etl budget',
  });
  const budget = await openBudget({
    db: drizzle(budgetPool),
    apiKey: requireApiKey(settings),
    requestsPerSecond: settings.explorer.requestsPerSecond,
    sleep,
  });
  const boss = await startBoss({ databaseUrl: url, log, supervise });
  return {
    db,
    pool,
    boss,
    log,
    databaseUrl: url,
    concurrency: slicesAtOnce,
    pageSize: settings.explorer.pageSize,
    readAhead: readAheadPages,
    fetchPage: pageFetcher(client, budget, secretsOf(settings)),
    now: () => performance.now(),
    random: Math.random,
    clock: () => new Date(),
    onCommit: options.onCommit ?? (() => undefined),
    async close() {
      await boss.stop({ graceful: false });
      await client.close();
      await budgetPool.end();
    },
  };
}

/** The explorer's client as the settings say. */
export function openClient(settings: Settings): ExplorerClient {
  const { baseUrl, secretKey } = settings.explorer;
  return createExplorerClient({
    baseUrl,
    apiKey: requireApiKey(settings),
    ...(secretKey !== null && { secretKey }),
    random: Math.random,
    now: () => performance.now(),
    sleep,
  });
}

function pageFetcher(
  client: ExplorerClient,
  budget: Budget,
  secrets: readonly string[],
): FetchPage {
  const redact = createRedactor(secrets);
  const admit = (signal: AbortSignal) => budget.take(signal);
  return async (request, signal) => {
    const answer = await client.get(request, { admit, signal });
    const body = withoutSecrets(answer.body, secrets, redact);
    return {
      ...answer.admission,
      body,
      json: parseBody(body, redact),
      bytes: answer.bytes,
      attempts: answer.attempts,
      latencyMs: answer.latencyMs,
    };
  };
}

/** Shorter secrets would mask what is data; no service gives out such keys. */
const shortestMasked = 8;

/** A body that repeats a key of ours, as items do when a service echoes its request, loses it here. */
function withoutSecrets(
  body: Buffer,
  secrets: readonly string[],
  redact: (text: string) => string,
): Buffer {
  const long = secrets.filter((key) => key.length >= shortestMasked);
  const echoes = long.some((key) => echoOf(key).some((spelling) => body.includes(spelling)));
  return echoes ? Buffer.from(redact(body.toString())) : body;
}

/** How a service may spell a key that it echoes; what is then masked is found in any spelling. */
const echoOf = (key: string) => [
  key,
  encodeURIComponent(key),
  encodeURIComponent(key).toLowerCase(),
  key.replaceAll('/', '\\/'),
];

const secretsOf = ({ explorer: { apiKey, secretKey } }: Settings) =>
  [apiKey, secretKey].filter((secret) => secret !== null);

/** A reserved slot that a crash forgets costs nothing, so its commit need not reach the disk. */
function withoutWaitingForDisk(url: string): string {
  const relaxed = new URL(url);
  const options = relaxed.searchParams.get('options') ?? '';
  relaxed.searchParams.set('options', `${options} -c synchronous_commit=off`.trim());
  return relaxed.href;
}

const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
