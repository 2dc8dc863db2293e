import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import { every } from '../every.ts';
import { expireArchive } from '../replay/expire.ts';
import { forgetDoneRereads } from '../rows/rereads.ts';
import type { Log } from '../log.ts';

/** What is tidied up, and by which clock. */
export interface HouseOptions {
  readonly db: Database;
  readonly log: Log;
  readonly clock: () => Date;
  /** How long archived bodies are kept from now on, in days; null: for ever. */
  readonly archiveDays: () => number | null;
}

/** Retention is told in days, so an hour more or less is nothing; in ms. */
const intervalMs = 3_600_000;
/** How often it is looked whether the retention has changed, in ms. */
const pollIntervalMs = 2_000;

/**
 * Tidies up now, every hour and when the retention has changed, until the signal aborts. A lost database
 * is waited for.
 */
export function keepHouse(options: HouseOptions, signal: AbortSignal): Promise<void> {
  let days: number | null = null;
  let restMs = 0;
  const poll = async () => {
    restMs -= pollIntervalMs;
    if (restMs > 0 && options.archiveDays() === days) return;
    days = options.archiveDays();
    restMs = intervalMs;
    await tidyUp(options, signal);
  };
  return every(pollIntervalMs, signal, poll, (error) =>
    options.log.warn({ error: describeDatabaseError(error) }, 'housekeeping.failure'),
  );
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
  const pages = await expireArchive(db, archiveDays(), clock(), signal);
  if (pages > 0) log.info({ pages }, 'archive.expired');
}
