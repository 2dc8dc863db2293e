import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import { every } from '../every.ts';
import { thinHistory } from '../history/thin.ts';
import { thinLedger } from '../lists/thin.ts';
import { expireArchive } from '../replay/expire.ts';
import { rollUp } from '../rollups/roll.ts';
import type { Log } from '../log.ts';

/** What is tidied up, and by which clock. */
export interface HouseOptions {
  readonly db: Database;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly log: Log;
  readonly clock: () => Date;
  /** How long archived bodies are kept from now on, in days; null: for ever. */
  readonly archiveDays: () => number | null;
  /** How long walks that brought nothing stay in the ledger from now on, in days; null: for ever. */
  readonly ledgerDays: () => number | null;
}

/** Retention is told in days, so an hour more or less is nothing; in ms. */
const intervalMs = 3_600_000;
/** How often it is looked whether the retention has changed, in ms. */
const pollIntervalMs = 2_000;

/** How long sums rest after they were brought up to date: in times of what that took, within bounds in ms. */
const sumsRest = { ms: 60_000, times: 20, mostMs: 900_000 };

/**
 * Keeps sums of what is stored up to date until the signal aborts: once a minute, or less often where
 * that would take more than a twentieth of the time, but each quarter of an hour.
 */
export function keepSums(
  { db, log, now }: Pick<HouseOptions, 'db' | 'log' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  let dueMs = now();
  const poll = async () => {
    const begun = now();
    if (begun < dueMs) return;
    // Also where it fails.
    dueMs = begun + sumsRest.ms;
    await rollUp({ db, now }, signal);
    const pacedMs = sumsRest.times * (now() - begun);
    dueMs = now() + Math.min(Math.max(sumsRest.ms, pacedMs), sumsRest.mostMs);
  };
  return every(pollIntervalMs, signal, poll, (error) =>
    log.tell('sums.failure', { error: describeDatabaseError(error) }),
  );
}

/** What a person at a terminal waits without a word, in ms. */
const patienceMs = 5_000;

/** Brings sums of what is stored up to date once. A failure is logged: the views say up to when they are. */
export async function sumUp(
  { db, log, now }: Pick<HouseOptions, 'db' | 'log' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  const telling = setTimeout(() => log.tell('sums.long', {}), patienceMs);
  try {
    await rollUp({ db, now }, signal);
  } catch (error) {
    log.tell('sums.failure', { error: describeDatabaseError(error) });
  } finally {
    clearTimeout(telling);
  }
}

/**
 * Tidies up now, every hour and when the retention has changed, until the signal aborts. A lost database
 * is waited for.
 */
export function keepHouse(options: HouseOptions, signal: AbortSignal): Promise<void> {
  let [archiveDays, ledgerDays]: (number | null)[] = [null, null];
  let restMs = 0;
  const poll = async () => {
    restMs -= pollIntervalMs;
    const isSame = options.archiveDays() === archiveDays && options.ledgerDays() === ledgerDays;
    if (restMs > 0 && isSame) return;
    [archiveDays, ledgerDays] = [options.archiveDays(), options.ledgerDays()];
    restMs = intervalMs;
    await tidyUp(options, signal);
  };
  return every(pollIntervalMs, signal, poll, (error) =>
    options.log.tell('housekeeping.failure', { error: describeDatabaseError(error) }),
  );
}

/**
 * Tidies up once: archived bodies that are older than they are to be kept, notes of what was to be read
 * again and has been, minutes of the history, and old walks that brought nothing.
 */
export async function tidyUp(
  { db, log, clock, archiveDays, ledgerDays }: HouseOptions,
  signal: AbortSignal,
): Promise<void> {
  await thinHistory(db);
  const pages = await expireArchive(db, archiveDays(), clock(), signal);
  if (pages > 0) log.tell('archive.expired', { pages });
  const thinned = await thinLedger(db, ledgerDays(), clock(), signal);
  if (thinned.walks > 0) log.tell('ledger.thinned', { ...thinned });
}
