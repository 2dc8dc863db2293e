import { openDatabase, type EmbeddedPlace, type OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { readStandby, StandbyError, type Standby } from '../db/standby.ts';
import { UsageError, type Context } from './context.ts';
import { isPrepared } from '../db/prepared.ts';

/**
 * Opens the database of the settings, or the embedded one of that name, for a command's work, and closes
 * it however that ends. Where that is a standby it says so, and how old what it tells is.
 *
 * @throws StandbyError where a command that writes is given a standby
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
      context.stderr(`${spellStandby(standby)}\n`);
    }
    return await work(database);
  } finally {
    await database.close();
  }
}

/** What whoever reads a standby has to know. */
const spellStandby = ({ behind_s }: Standby): string =>
  `Reads a standby, ${behind_s === null ? 'nobody knows how far' : `${behind_s} s`} behind.`;

/**
 * Commands that only look at what is there make no tables for it.
 *
 * @param what what there is nothing of, such as `to verify`
 * @throws UsageError where the database has no tables yet
 */
export async function demandPrepared(database: OpenDatabase, what: string): Promise<void> {
  if (await isPrepared(database.pool)) return;
  throw new UsageError(`there is nothing ${what} yet: run sync or start first.`);
}
