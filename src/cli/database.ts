import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { ConfigError } from '../config/environment.ts';
import { loadSettings, type SettingsInput } from '../config/load.ts';
import { secretsOf, type Settings } from '../config/settings.ts';
import { describeDatabaseError } from '../db/failure.ts';
import { applicationName, createPool, ownConnections, quickReading } from '../db/pool.ts';
import { demandSession, PoolerError } from '../db/route.ts';
import { demandPrimary } from '../db/state.ts';
import type { Database } from '../db/transaction.ts';
import { errorOf } from '../failure.ts';
import {
  type EmbeddedPostgres,
  inspectEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../postgres/postgres.ts';
import { createRedactor } from '../redact.ts';
import { noteRefusedFile } from '../sync/feeds.ts';
import { UsageError, type Context } from './context.ts';
import { chainOf, type ChosenFeeds } from './options.ts';

/** The demo's database in the embedded Postgres. */
export const demoDatabase = 'demo';

/** The embedded Postgres' directory in a folder. */
export const embeddedDirectory = ({ cwd }: Pick<Context, 'cwd'>): string =>
  join(cwd, '.explorer-etl');

/** The settings of a command, with its global flags and its selection. */
export function readSettings(
  { env, cwd, config: configFile, databaseUrl }: Pick<Context, 'env' | 'cwd'> & Partial<Context>,
  { chain: chains, operation: operations }: ChosenFeeds = {},
  need: NonNullable<SettingsInput['need']> = 'chains',
): Settings {
  return loadSettings({ env, cwd, need, configFile, databaseUrl, chains, operations });
}

/** `settingsOf` of a command that schedules may run: the timeline shows a file that is refused. */
export async function workSettings(context: Context, chosen?: ChosenFeeds): Promise<Settings> {
  try {
    return readSettings(context, chosen, chosen === undefined ? 'file' : 'chains');
  } catch (error) {
    if (error instanceof ConfigError) await noteRefusal(context, error).catch(() => undefined);
    throw error;
  }
}

/** Puts what is wrong with the file on the timeline. @throws if it can't */
async function noteRefusal(context: Context, { problems }: ConfigError): Promise<void> {
  const settings = readSettings({ ...context, config: null }, {}, 'database');
  const { databaseUrl: url } = settings;
  const ofFile = problems.filter(({ where }) => where !== null);
  if (url === null || ofFile.length === 0) return;
  const says = ofFile.map(({ where, message }) => `${where}: ${message}`).join('; ');
  // A database that hangs delays the refusal by seconds at most.
  const dbTimeouts = { answerMs: 2_000 };
  const way = await demandSession(url, dbTimeouts.answerMs);
  const pool = createPool({ ...way, max: 1, applicationName, dbTimeouts });
  try {
    await noteRefusedFile(drizzle(pool), createRedactor(secretsOf(settings))(says));
  } finally {
    await pool.end();
  }
}

/** The database does not answer or refuses the login. Names no password. */
export class DatabaseUnavailableError extends errorOf('database-unavailable') {}

/** Disposing of it ends its pool; an embedded server keeps running until `db stop`. */
export interface OpenDatabase extends AsyncDisposable {
  readonly url: string;
  readonly pool: Pool;
  readonly db: Database;
  /** Null: `DATABASE_URL` names the server. */
  readonly embedded: EmbeddedPostgres | null;
}

interface EmbeddedPlace {
  readonly cwd: string;
  readonly name?: string;
  /** Whether an absent database is refused; otherwise it is created. */
  readonly mustExist?: boolean;
  /** Ends the wait for another process that starts the server. */
  readonly signal?: AbortSignal;
}

/** Throws if a command cannot use the database. */
type Demand = (pool: Pool) => Promise<void>;

/**
 * Opens the database of the settings, or of the embedded server below `cwd`.
 * @throws DatabaseUnavailableError if it does not answer, or must exist and does not; PoolerError
 */
export async function openDatabase(
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  place: EmbeddedPlace,
  ...demands: readonly Demand[]
): Promise<OpenDatabase> {
  const { embedded, url } =
    databaseUrl === null ? await openEmbedded(place) : { embedded: null, url: databaseUrl };
  const way = await demandSession(url).catch((cause: unknown) => {
    if (cause instanceof PoolerError) throw cause;
    const why = describeDatabaseError(cause);
    throw new DatabaseUnavailableError(`the database can't be used: ${why}.`, { cause });
  });
  const settings = quickReading;
  const pool = createPool({ ...way, max: ownConnections, applicationName, settings });
  try {
    for (const demand of demands) await demand(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return { url, pool, db: drizzle(pool), embedded, [Symbol.asyncDispose]: () => pool.end() };
}

/** @throws as `openDatabase` */
async function openEmbedded({ cwd, name = 'postgres', mustExist = false, signal }: EmbeddedPlace) {
  const embedded = await startEmbeddedPostgres({ directory: embeddedDirectory({ cwd }), signal });
  const url = new URL(embedded.url);
  const server = createPool({ url: embedded.url, max: 1, applicationName });
  try {
    const { rows } = await server.query('select from pg_database where datname = $1', [name]);
    if (rows.length === 0 && mustExist) {
      const message = `the embedded Postgres has no database "${name}" yet.`;
      throw new DatabaseUnavailableError(message, { command: `explorer-etl ${name}` });
    }
    if (rows.length === 0) await server.query(`create database "${name}"`);
  } finally {
    await server.end();
  }
  url.pathname = `/${name}`;
  return { embedded, url: url.href };
}

/** Starts no server. @throws UsageError if there is no database to read */
async function demandDatabase(
  { cwd, demo }: Context,
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
): Promise<void> {
  if (databaseUrl !== null) {
    if (!demo) return;
    throw new UsageError(
      '--demo is of the embedded Postgres, and DATABASE_URL or --database-url names another: leave one out.',
    );
  }
  if ((await inspectEmbeddedPostgres(embeddedDirectory({ cwd }))) === null) {
    throw new UsageError(
      `there is no database yet: ${cwd} has no .explorer-etl, and DATABASE_URL is not set. Run demo or sync first, or go to the folder where you did.`,
    );
  }
}

/**
 * Opens the database of the settings, or the embedded one of that name; with `--demo` the demo's. What reads creates
 * none; what only previews needs no primary either. @throws UsageError without a database, StandbyError
 */
export async function openFor(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context & EmbeddedPlace,
  access: 'reads' | 'previews' | 'writes',
  ...demands: readonly Demand[]
): Promise<OpenDatabase> {
  if (context.demo || access === 'reads') await demandDatabase(context, settings);
  const place = context.demo ? { ...context, name: demoDatabase, mustExist: true } : context;
  const primary = access === 'writes' ? [demandPrimary] : [];
  return openDatabase(settings, place, ...primary, ...demands);
}

/** Reports where an embedded database keeps its data. */
export function reportLocation({ note, commandLine }: Context, { embedded }: OpenDatabase): void {
  if (embedded === null) return;
  const why = embedded.relocated
    ? ' (the server does not run as root and cannot enter this folder)'
    : '';
  const stop = commandLine('explorer-etl db stop');
  const state = embedded.attached ? 'runs' : `started (${stop} stops it)`;
  note(`Embedded Postgres ${state}; its data is in ${embedded.dataDirectory}${why}`);
}

/** `openFor` for commands that need what is stored. @throws UsageError without a database, or a table in it */
export async function openStored(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context,
  access: 'reads' | 'writes',
): Promise<OpenDatabase> {
  if (access === 'writes') await demandDatabase(context, settings);
  return openFor(settings, context, access, async (pool) => {
    // Analysts have no access to schema etl.
    const { rows } = await pool.query(`select where to_regnamespace('explorer') is not null`);
    if (rows.length > 0) return;
    throw nothingRead();
  });
}

export const nothingRead = () =>
  new UsageError(
    'there is nothing in this database yet: run sync or start first; --demo reads the database of the demo.',
  );

/** `openStored` with its settings, and the chosen feeds, also unconfigured ones. @throws UsageError for an unknown chain */
export async function openData(
  context: Context,
  access: 'reads' | 'writes',
  { chain = [], operation: operations = [] }: ChosenFeeds = {},
) {
  const settings = readSettings(context, {}, 'database');
  const chains = chain.map((flag) => chainOf(flag, settings.chains));
  return { ...(await openStored(settings, context, access)), settings, chains, operations };
}
