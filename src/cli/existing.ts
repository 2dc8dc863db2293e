import { join } from 'node:path';
import type { Command } from 'commander';
import type { EmbeddedPlace, OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { inspectEmbeddedPostgres } from '../postgres/postgres.ts';
import { UsageError, type Context } from './context.ts';

/** The demo's database in the embedded Postgres. */
export const demoDatabase = 'demo';

/** The embedded Postgres' directory in a folder. */
export const embeddedDirectory = ({ cwd }: Pick<Context, 'cwd'>): string =>
  join(cwd, '.explorer-etl');

/** The context with the database to read; starts no server. @throws UsageError if there is none */
export async function existing(
  context: Context,
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  { demo }: { readonly demo?: boolean },
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

export interface DemoOption {
  readonly demo?: boolean;
}

export const addDemo = (command: Command): Command =>
  command.option('--demo', "the demo's database");

/** The context; with `--demo`, that of the demo's database. @throws UsageError if there is none */
export const placeOf = async (
  context: Context,
  settings: Pick<Settings, 'databaseUrl'>,
  options: DemoOption,
): Promise<Context & EmbeddedPlace> =>
  options.demo === true ? existing(context, settings, options) : context;

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
