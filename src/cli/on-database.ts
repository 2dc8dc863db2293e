import { openDatabase, type EmbeddedPlace, type OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { readStandby, StandbyError } from '../db/standby.ts';
import { UsageError, type Context } from './context.ts';
import { isPrepared } from '../db/prepared.ts';

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

/**
 * For commands that create no tables; `what` is the missing data, such as `to verify`.
 * @throws UsageError if the database has no tables yet
 */
export async function demandPrepared(database: OpenDatabase, what: string): Promise<void> {
  if (await isPrepared(database.pool)) return;
  throw new UsageError(`there is nothing ${what} yet: run sync or start first.`);
}
