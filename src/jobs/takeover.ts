import type { Pool } from 'pg';
import type { Job, PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { Ways } from '../db/route.ts';
import { every } from '../every.ts';
import type { Log } from '../log.ts';
import { holdJob, lostJobs } from './boss-tables.ts';
import { showPresence, type Post } from './presence.ts';

/** How often workers look for jobs whose worker is gone, in ms. */
const watchIntervalMs = 500;

/** A job is fetched a moment before its lock is taken: younger ones are not looked at. */
const lockGrace = '1 second';

/**
 * How often the session says that this process still runs, and after how long a silence the server
 * ends it, in ms. One that was stopped, or whose machine is frozen or cut off, keeps its connection
 * and with it its locks: for hours, without this. Long enough for a machine with much to do; a
 * worker that is taken for dead and is not is fenced, and has lost a few requests.
 */
const beatMs = 500;
const silenceMs = 2_000;

/**
 * Proof that this process lives: a session that holds an advisory lock for each of its jobs.
 * Postgres drops the locks the moment the process dies, which is seconds before any heartbeat.
 */
export interface JobLocks {
  /**
   * @returns whether the job is its still: where the session was slow to open, others may have taken its worker
   *   for gone, and given the job back
   */
  hold(job: Pick<Job, 'id' | 'name' | 'retryCount'>): Promise<boolean>;
  release(jobId: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the session of this process's job locks. A lost session is opened anew by the next job.
 *
 * @param place where a session is kept, directly or by a pooler
 * @param post what the process is there for: others see that it lives before it has a job
 */
export async function openJobLocks(
  { url, isPooled }: Ways['session'],
  post: Post,
): Promise<JobLocks> {
  // A pool of one connection that is never let go: it queues what comes at once, and reconnects.
  const session = createPool({
    url,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, idleSessionMs: silenceMs },
    ...(isPooled && { pooled: 'sessions' }),
  });
  // A beat that waits for the one before it would only queue up.
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    await session.query(showPresence(post)).catch(() => undefined);
    isBeating = false;
  };
  // Before the first job: one that waited for a connection would look lost.
  await beat();
  const beats = setInterval(() => void beat(), beatMs).unref();
  return {
    async hold({ id, name, retryCount }) {
      const { rows } = await session.query<{ is_ours: boolean }>(holdJob, [id, name, retryCount]);
      return rows[0]?.is_ours === true;
    },
    async release(jobId) {
      await session.query('select pg_advisory_unlock(hashtextextended($1, 0))', [jobId]);
    },
    async close() {
      clearInterval(beats);
      await session.end();
    },
  };
}

/**
 * Gives jobs whose worker is gone back to the queue: slices, and runs, of which a lost one would keep the
 * lane's next ones out of the queue.
 */
async function recoverLostJobs(pool: Pool, boss: PgBoss, log: Log): Promise<void> {
  for (const { id, name, retry_count, key } of await lostJobs(pool, lockGrace)) {
    await boss.fail(name, { id, retryCount: retry_count }, { reason: 'its worker is gone' });
    log.tell('job.taken-over', { queue: name, key });
  }
}

/** Looks for lost jobs until the signal aborts. A lost database is waited for. */
export function watchForLostJobs(
  pool: Pool,
  boss: PgBoss,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const poll = () => recoverLostJobs(pool, boss, log);
  return every(watchIntervalMs, signal, poll, (error) => {
    if (!signal.aborted) log.tell('watch.failure', { error: describeDatabaseError(error) });
  });
}
