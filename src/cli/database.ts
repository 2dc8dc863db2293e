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
  { env, cwd, config: configFile, databaseUrl }: Context,
  { chain: chains, operation: operations }: ChosenFeeds = {},
  need: NonNullable<SettingsInput['need']> = 'chains',
): Settings {
  return loadSettings({ env, cwd, need, configFile, databaseUrl, chains, operations });
}

/** The chosen stored feeds, also unconfigured ones. @throws UsageError for an unknown chain */
export function storedFeeds(context: Context, options: ChosenFeeds) {
  const { chain = [], operation: operations = [] } = options;
  const settings = settingsOf(context, {}, 'database');
  return { settings, chains: chain.map((flag) => chainOf(flag, settings)), operations };
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

/** Opens the database of the settings; with `--demo` the demo's. @throws UsageError if there is none */
export async function openStored(
  context: Context & EmbeddedPlace,
  settings: Pick<Settings, 'databaseUrl'>,
): Promise<OpenDatabase> {
  if (!context.demo) return openDatabase(settings, context);
  await demandDatabase(context, settings);
  return openDatabase(settings, { ...context, name: demoDatabase, mustExist: true });
}

/**
 * Runs work on the database of the settings, or the embedded one of that name, and closes it. Warns of a standby's
 * delay. @throws StandbyError if a command that writes is given a standby
 */
export async function onDatabase<Result>(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context & EmbeddedPlace,
  access: 'reads' | 'writes',
  work: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openStored(context, settings);
  try {
    const standby = await readStandby(database.pool);
    if (standby !== null) {
      if (access === 'writes') throw new StandbyError();
      const { behind_s } = standby;
      const behind = behind_s === null ? 'an unknown time' : `${behind_s} s`;
      context.stderr(`Reads a standby, ${behind} behind.\n`);
    }
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Reports where an embedded database keeps its data. */
export function reportLocation(
  { quiet, stderr, commandLine }: Context,
  { embedded }: OpenDatabase,
): void {
  if (embedded === null || quiet) return;
  const why = embedded.relocated
    ? ' (the server does not run as root and cannot enter this folder)'
    : '';
  const stop = commandLine('explorer-etl db stop');
  const state = embedded.attached ? 'runs' : `started (${stop} stops it)`;
  stderr(`Embedded Postgres ${state}; its data is in ${embedded.dataDirectory}${why}\n`);
}

/** For commands that create no tables. @throws UsageError if the database has none yet */
export async function demandData({ pool }: OpenDatabase): Promise<void> {
  // Analysts have no access to schema etl.
  const { rows } = await pool.query(`select where to_regnamespace('explorer') is not null`);
  if (rows.length > 0) return;
  throw new UsageError(
    'there is nothing in this database yet: run sync or start first; --demo reads the database of the demo.',
  );
}
