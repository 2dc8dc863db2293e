import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { Log } from '../log.ts';
import { sliceQueue } from './boss.ts';

/** How often workers look for jobs whose worker is gone, in ms. */
const watchIntervalMs = 500;

/** A job is fetched a moment before its lock is taken: younger ones are not looked at. */
const lockGrace = '1 second';

/**
 * Proof that this process lives: a session that holds an advisory lock for each of its jobs.
 * Postgres drops the locks the moment the process dies, which is seconds before any heartbeat.
 */
export interface JobLocks {
  hold(jobId: string): Promise<void>;
  release(jobId: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the session of this process's job locks. A lost session is opened anew by the next job. */
export function openJobLocks(databaseUrl: string): JobLocks {
  // A pool of one connection that is never let go: it queues what comes at once, and reconnects.
  const session = createPool({
    url: databaseUrl,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
  });
  return {
    async hold(jobId) {
      await session.query('select pg_try_advisory_lock(hashtextextended($1, 0))', [jobId]);
    },
    async release(jobId) {
      await session.query('select pg_advisory_unlock(hashtextextended($1, 0))', [jobId]);
    },
    close: () => session.end(),
  };
}

/**
 * Finds slices whose worker is gone, and gives them back to the queue. The lock is tried for the
 * length of one statement, on a session that holds none, so that a living worker's is respected.
 *
 * @returns how many were given back
 */
async function recoverLostSlices(pool: Pool, boss: PgBoss, log: Log): Promise<number> {
  const { rows } = await pool.query<{ id: string; retry_count: number; key: string }>(
    `with active as materialized (
       select id, retry_count, singleton_key as key
       from pgboss.job
       where name = $1 and state = 'active' and started_on < now() - $2::interval
     )
     select * from active where pg_try_advisory_xact_lock(hashtextextended(id::text, 0))`,
    [sliceQueue, lockGrace],
  );
  for (const { id, retry_count, key } of rows) {
    await boss.fail(sliceQueue, { id, retryCount: retry_count }, { reason: 'its worker is gone' });
    log.warn({ slice: key }, 'slice.taken-over');
  }
  return rows.length;
}

/** Looks for lost slices until the signal aborts. A lost database is waited for. */
export async function watchForLostSlices(
  pool: Pool,
  boss: PgBoss,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await recoverLostSlices(pool, boss, log);
      await delay(watchIntervalMs, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      log.debug({ error: describeDatabaseError(error) }, 'watch.trouble');
      await delay(watchIntervalMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
