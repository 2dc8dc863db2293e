import { join } from 'node:path';
import type { Pool } from 'pg';
import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { demandPrimary } from '../db/state.ts';
import {
  openDatabase,
  type EmbeddedPlace,
  type OpenDatabase,
  type OwnDatabase,
} from '../open-database.ts';
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
 * Opens the database of the settings, or the embedded one of that name; with `--demo` the demo's. @throws
 * StandbyError if a command that writes is given a standby
 */
export async function openFor(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context & EmbeddedPlace,
  access: 'reads' | 'writes',
  demand?: (pool: Pool) => Promise<void>,
): Promise<OwnDatabase> {
  if (context.demo) await demandDatabase(context, settings);
  const place = context.demo ? { ...context, name: demoDatabase, mustExist: true } : context;
  return openDatabase(settings, place, async (pool) => {
    if (access === 'writes') await demandPrimary(pool);
    await demand?.(pool);
  });
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

/** `openFor` for commands that create nothing. @throws UsageError without a database, or a table in it */
export async function openStored(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context,
  access: 'reads' | 'writes',
): Promise<OwnDatabase> {
  await demandDatabase(context, settings);
  return openFor(settings, context, access, async (pool) => {
    // Analysts have no access to schema etl.
    const { rows } = await pool.query(`select where to_regnamespace('explorer') is not null`);
    if (rows.length > 0) return;
    throw new UsageError(
      'there is nothing in this database yet: run sync or start first; --demo reads the database of the demo.',
    );
  });
}

/** `openStored` with its settings, and the chosen feeds, also unconfigured ones. @throws UsageError for an unknown chain */
export async function openData(
  context: Context,
  access: 'reads' | 'writes',
  { chain = [], operation: operations = [] }: ChosenFeeds = {},
) {
  const settings = settingsOf(context, {}, 'database');
  const chains = chain.map((flag) => chainOf(flag, settings));
  return { ...(await openStored(settings, context, access)), settings, chains, operations };
}
