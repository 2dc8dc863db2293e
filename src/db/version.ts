import type { Pool } from 'pg';
import { every } from '../every.ts';
import { demandCurrent } from './migrate.ts';
import { MigrationError } from './migration-error.ts';

/** How often a process looks whether its database was migrated by a newer one, in ms. */
const pollIntervalMs = 2_000;

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
): Promise<T> {
  const outdated = new AbortController();
  const done = new AbortController();
  const poll = () => demandCurrent(pool);
  const ended = AbortSignal.any([done.signal, outdated.signal]);
  const watching = every(pollIntervalMs, ended, poll, (error) => {
    // A database that is away is the work's own failure.
    if (error instanceof MigrationError) outdated.abort(error);
  });
  try {
    const result = await work(AbortSignal.any([signal, outdated.signal]));
    if (outdated.signal.aborted) throw outdated.signal.reason;
    return result;
  } finally {
    done.abort();
    await watching;
  }
}
