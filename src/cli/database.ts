import { join } from 'node:path';
import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { readStandby, StandbyError } from '../db/state.ts';
import { openDatabase, type EmbeddedPlace, type OpenDatabase } from '../open-database.ts';
import { inspectEmbeddedPostgres } from '../postgres/postgres.ts';
import { UsageError, type Context } from './context.ts';
import { chainOf, type ChosenFeeds } from './options.ts';

/** The demo's database in the embedded Postgres. */
export const demoDatabase = 'demo';

/** The embedded Postgres' directory in a folder. */
export const embeddedDirectory = ({ cwd }: Pick<Context, 'cwd'>): string =>
  join(cwd, '.explorer-etl');

/** The settings of a command, with its global flags and its selection. */
export function settingsOf(
  { env, cwd, config: configFile, databaseUrl }: Pick<Context, 'env' | 'cwd'> & Partial<Context>,
  { chain: chains, operation: operations }: ChosenFeeds = {},
  need: NonNullable<SettingsInput['need']> = 'chains',
): Settings {
  return loadSettings({ env, cwd, need, configFile, databaseUrl, chains, operations });
}

/** Starts no server. @throws UsageError if there is no database to read */
export async function demandDatabase(
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
 * Runs work on the database of the settings, or the embedded one of that name, and closes it; with `--demo` on the
 * demo's. Warns of a standby's delay. @throws StandbyError if a command that writes is given a standby
 */
export async function onDatabase<Result>(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context & EmbeddedPlace,
  access: 'reads' | 'writes',
  work: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  if (context.demo) await demandDatabase(context, settings);
  const place = context.demo ? { ...context, name: demoDatabase, mustExist: true } : context;
  const database = await openDatabase(settings, place);
  try {
    const standby = await readStandby(database.pool);
    if (standby !== null) {
      if (access === 'writes') throw new StandbyError();
      const { behind_s } = standby;
      const behind = behind_s === null ? 'an unknown time' : `${behind_s} s`;
      context.warn(`Reads a standby, ${behind} behind.`);
    }
    return await work(database);
  } finally {
    await database.close();
  }
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

/** @throws UsageError if the database has no table */
export async function demandTables({ pool }: OpenDatabase): Promise<void> {
  // Analysts have no access to schema etl.
  const { rows } = await pool.query(`select where to_regnamespace('explorer') is not null`);
  if (rows.length > 0) return;
  throw new UsageError(
    'there is nothing in this database yet: run sync or start first; --demo reads the database of the demo.',
  );
}

/** An open database with its settings, and the chosen feeds in it, also unconfigured ones. */
export interface StoredData extends OpenDatabase {
  readonly settings: Settings;
  readonly chains: readonly number[];
  readonly operations: readonly string[];
}

/** `onDatabase` for commands that create nothing. @throws UsageError without data, or for an unknown chain */
export async function onData<Result>(
  context: Context,
  access: 'reads' | 'writes',
  { chain = [], operation: operations = [] }: ChosenFeeds,
  work: (data: StoredData) => Promise<Result>,
): Promise<Result> {
  const settings = settingsOf(context, {}, 'database');
  const chains = chain.map((flag) => chainOf(flag, settings));
  await demandDatabase(context, settings);
  return onDatabase(settings, context, access, async (database) => {
    await demandTables(database);
    return work({ ...database, settings, chains, operations });
  });
}
