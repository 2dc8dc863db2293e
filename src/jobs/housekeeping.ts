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
  /** How long archived bodies are kept from now on, in days; null: for ever. */
  readonly archiveDays: () => number | null;
}

/** Retention is told in days, so an hour more or less is nothing; in ms. */
const intervalMs = 3_600_000;
/** How often it is looked whether the retention has changed, in ms. */
const lookIntervalMs = 2_000;

/**
 * Tidies up now, every hour and when the retention has changed, until the signal aborts. A lost database
 * is waited for.
 */
export async function keepHouse(options: HouseOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const days = options.archiveDays();
    try {
      await tidyUp(options, signal);
    } catch (error) {
      options.log.warn({ error: describeDatabaseError(error) }, 'housekeeping.trouble');
    }
    for (let waitedMs = 0; waitedMs < intervalMs; waitedMs += lookIntervalMs) {
      if (signal.aborted || options.archiveDays() !== days) break;
      await delay(lookIntervalMs, undefined, { signal }).catch(() => undefined);
    }
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
  const pages = await expireArchive(db, archiveDays(), clock(), signal);
  if (pages > 0) log.info({ pages }, 'archive.expired');
}
