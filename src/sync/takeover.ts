import type { Pool } from 'pg';
import type { PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { SessionWay } from '../db/route.ts';
import { every } from '../time.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { keyOf, sliceQueue } from './queue.ts';
import { locks, posts } from './workers.ts';

/** The server ends a silent session: a frozen process would keep its locks for hours. */
const [watchMs, beatMs, silenceMs] = [500, 500, 2_000];

/** A process's locks. Postgres drops them with its session: others go on within 3 s, not 30 s as with pg-boss. */
export async function openPresence(way: SessionWay, post: keyof typeof posts) {
  const session = createPool({
    ...way,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, idleSessionMs: silenceMs },
  });
  const closing = new AbortController();
  const lock = 'select pg_try_advisory_lock_shared($1, $2)';
  const beat = async () => void (await session.query(lock, [locks.process, posts[post]]));
  await beat().catch(() => undefined);
  const beats = every(beatMs, closing.signal, beat, () => undefined);
  const take = `update etl.runs set taken_up_at = clock_timestamp()
    where feed || '/' || lane = $1 and state = 'open'`;
  const ofLane = (act: 'lock' | 'unlock', key: string) =>
    session.query(`select pg_advisory_${act}_shared($1, hashtext($2))`, [locks.lane, key]);
  return {
    async hold(lane: FeedLane) {
      await ofLane('lock', keyOf(lane));
      // Only after the lock: otherwise the lane would look lost.
      await session.query(take, [keyOf(lane)]);
    },
    release: (lane: FeedLane) => ofLane('unlock', keyOf(lane)),
    close() {
      closing.abort();
      return beats.then(() => session.end());
    },
  };
}

/** Takes back lanes whose lock is free. The process that clears the mark returns the job. */
const takeBack = `
  with taken as materialized (
    select id, feed, taken_up_at, feed || '/' || lane as key
    from etl.runs where state = 'open' and taken_up_at is not null
  ), lost as materialized (
    select * from taken where pg_try_advisory_xact_lock($1, hashtext(key))
  ), back as (
    update etl.runs set taken_up_at = null, due_at = clock_timestamp()
    from lost where runs.id = lost.id and runs.taken_up_at = lost.taken_up_at
    returning lost.feed, key
  ), noted as (
    insert into etl.events (kind, feed, sentence)
    select 'killed', feed, 'A worker was lost while it read ' || key || '. Another one continues.' from back
  )
  select key from back`;

/** Returns the jobs of lost lanes to the queue until the signal aborts. */
export function watchForLostLanes(pool: Pool, boss: PgBoss, log: Log, signal: AbortSignal) {
  const watch = async () => {
    const { rows } = await pool.query<{ key: string }>(takeBack, [locks.lane]);
    for (const { key } of rows) {
      for (const { id, retryCount, state } of await boss.findJobs(sliceQueue, { key })) {
        if (state !== 'active') continue;
        await boss.fail(sliceQueue, { id, retryCount }, { reason: 'its worker is gone' });
      }
      log.write('job.taken-over', { queue: sliceQueue, key });
    }
  };
  return every(watchMs, signal, watch, (error) => {
    if (!signal.aborted) log.write('watch.failure', { error: describeDatabaseError(error) });
  });
}
