import { setTimeout as delay } from 'node:timers/promises';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import { expireArchive } from '../feeds/archive.ts';
import { forgetDoneRereads } from '../feeds/rereads.ts';
import type { Log } from '../log.ts';

/** What is tidied up, and by which clock. */
export interface HouseOptions {
  readonly db: Database;
  readonly log: Log;
  readonly clock: () => Date;
  /** How long archived bodies are kept, in days; null: for ever. */
  readonly archiveDays: number | null;
}

/** Retention is told in days, so an hour more or less is nothing; in ms. */
const intervalMs = 3_600_000;

/** Tidies up now and every hour until the signal aborts. A lost database is waited for. */
export async function keepHouse(options: HouseOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await tidyUp(options, signal);
    } catch (error) {
      options.log.warn({ error: describeDatabaseError(error) }, 'housekeeping.trouble');
    }
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Tidies up once: archived bodies that are older than they are to be kept, and notes of what was to be
 * read again and has been.
 */
export async function tidyUp(
  { db, log, clock, archiveDays }: HouseOptions,
  signal: AbortSignal,
): Promise<void> {
  await forgetDoneRereads(db);
  const pages = await expireArchive(db, archiveDays, clock(), signal);
  if (pages > 0) log.info({ pages }, 'archive.expired');
}
