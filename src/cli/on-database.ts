import { openDatabase, type OpenDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError, type Context } from './context.ts';
import { isPrepared } from './readiness.ts';

/** Opens the database of the settings for a command's work, and closes it however that ends. */
export async function onDatabase<Result>(
  settings: Pick<Settings, 'databaseUrl'>,
  context: Context,
  work: (database: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(settings, context);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/**
 * Commands that only look at what is there make no tables for it.
 *
 * @param what what there is nothing of, such as `to verify`
 * @throws UsageError where the database has no tables yet
 */
export async function demandPrepared(database: OpenDatabase, what: string): Promise<void> {
  if (await isPrepared(database)) return;
  throw new UsageError(`there is nothing ${what} yet: run sync or start first.`);
}
