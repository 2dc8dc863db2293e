import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { demandCurrent, MigrationError } from './migrate.ts';

/** How often a process looks whether its database was migrated by a newer one, in ms. */
const lookIntervalMs = 2_000;

/**
 * Runs `work` for as long as the database is of this program's version. When a newer version
 * migrates it, the work's signal aborts: two versions never write for longer than it takes to stop.
 *
 * @throws MigrationError when that happened, after the work has come to rest
 */
export async function whileCurrent<T>(
  pool: Pool,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  folder?: string,
): Promise<T> {
  const outdated = new AbortController();
  const done = new AbortController();
  const watching = watch(pool, outdated, done.signal, folder);
  try {
    const result = await work(AbortSignal.any([signal, outdated.signal]));
    if (outdated.signal.aborted) throw outdated.signal.reason;
    return result;
  } finally {
    done.abort();
    await watching;
  }
}

async function watch(
  pool: Pool,
  outdated: AbortController,
  done: AbortSignal,
  folder: string | undefined,
): Promise<void> {
  while (!done.aborted && !outdated.signal.aborted) {
    await delay(lookIntervalMs, undefined, { signal: done }).catch(() => undefined);
    if (done.aborted) return;
    try {
      await demandCurrent(pool, folder);
    } catch (error) {
      // A database that is away is the work's own trouble.
      if (error instanceof MigrationError) outdated.abort(error);
    }
  }
}
