import { join } from 'node:path';
import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { isPrepared } from '../db/prepared.ts';
import { readStandby, StandbyError } from '../db/standby.ts';
import { openDatabase, type EmbeddedPlace, type OpenDatabase } from '../open-database.ts';
import { inspectEmbeddedPostgres } from '../postgres/postgres.ts';
import { commandLineOf, UsageError, type Context, type GlobalOptions } from './context.ts';
import { chainOf, type ChosenFeeds, type DemoOption } from './options.ts';

/** The demo's database in the embedded Postgres. */
export const demoDatabase = 'demo';

/** The embedded Postgres' directory in a folder. */
export const embeddedDirectory = ({ cwd }: Pick<Context, 'cwd'>): string =>
  join(cwd, '.explorer-etl');

/** The settings of a command, with its global flags and its selection. */
export function settingsOf(
  { env, cwd }: Pick<Context, 'env' | 'cwd'>,
  { config, databaseUrl, chain, operation }: GlobalOptions & ChosenFeeds,
  need: NonNullable<SettingsInput['need']> = 'chains',
): Settings {
  return loadSettings({
    env,
    cwd,
    need,
    ...(config !== undefined && { configFile: config }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...(chain !== undefined && { chains: chain }),
    ...(operation !== undefined && { operations: operation }),
  });
}

/** The chosen stored feeds, also unconfigured ones. @throws UsageError for an unknown chain */
export function storedFeeds(context: Context, options: ChosenFeeds & GlobalOptions) {
  const { chain = [], operation: operations = [], ...others } = options;
  const settings = settingsOf(context, others, 'database');
  return { settings, chains: chain.map((flag) => chainOf(flag, settings)), operations };
}

/** The context with the database to read; starts no server. @throws UsageError if there is none */
export async function existing(
  context: Context,
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  { demo }: DemoOption,
): Promise<Context & EmbeddedPlace> {
  if (databaseUrl !== null) {
    if (demo !== true) return context;
    throw new UsageError(
      '--demo is of the embedded Postgres, and DATABASE_URL or --database-url names another: leave one out.',
    );
  }
  if ((await inspectEmbeddedPostgres(embeddedDirectory(context))) === null) {
    throw new UsageError(
      `there is no database yet: ${context.cwd} has no .explorer-etl, and DATABASE_URL is not set. Run demo or sync first, or go to the folder where you did.`,
    );
  }
  return demo === true
    ? { ...context, name: demoDatabase, mustExist: true, isDemo: true }
    : context;
}

/** The context; with `--demo`, that of the demo's database. @throws UsageError if there is none */
export const placeOf = async (
  context: Context,
  settings: Pick<Settings, 'databaseUrl'>,
  options: DemoOption,
): Promise<Context & EmbeddedPlace> =>
  options.demo === true ? existing(context, settings, options) : context;

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
  const database = await openDatabase(settings, context);
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
  context: Context,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  { embedded }: OpenDatabase,
): void {
  if (embedded === null || quiet) return;
  const why = embedded.relocated
    ? ' (the server does not run as root and cannot enter this folder)'
    : '';
  const stop = commandLineOf(context)('explorer-etl db stop');
  const state = embedded.attached ? 'runs' : `started (${stop} stops it)`;
  context.stderr(`Embedded Postgres ${state}; its data is in ${embedded.dataDirectory}${why}\n`);
}

/**
 * For commands that create no tables; `what` is the missing data, such as `to verify`.
 * @throws UsageError if the database has no tables yet
 */
export async function demandPrepared({ pool }: OpenDatabase, what: string): Promise<void> {
  if (await isPrepared(pool)) return;
  throw new UsageError(`there is nothing ${what} yet: run sync or start first.`);
}

/** @throws UsageError if the database has no data yet */
export async function demandData({ pool }: OpenDatabase): Promise<void> {
  // Analysts have no access to schema etl.
  const { rows } = await pool.query<{ is_there: boolean }>(
    `select to_regnamespace('explorer') is not null as is_there`,
  );
  if (rows[0]?.is_there === true) return;
  throw new UsageError(
    'there is nothing in this database yet: run sync or start first; --demo reads the database of the demo.',
  );
}
