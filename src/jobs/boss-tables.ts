/**
 * All that reads or writes pg-boss's own tables, for what its public API lacks as of 12.35.0. Nothing else
 * does: whoever updates pg-boss holds its tables against these statements.
 */
import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import type { Database } from '../db/transaction.ts';
import type { FeedLane } from '../lists/feed.ts';
import { sliceQueue, runQueue } from './boss.ts';

/** Where pg-boss's scheduler keeps what it has sent. */
const sentQueue = '__pgboss__send-it';

/** Two transactions may begin in one order and commit in the other, but not so far apart. */
const slack = '1 second';

/**
 * Brings the queue back to the present after the database's clock was set back: jobs that wait were
 * due when it comes there again, the scheduler's last pass lies ahead, so that it makes none until
 * then, and what it sent keeps it from sending the same minutes again. A job that was made in the
 * future is due as long after now as it was after its making. Where no clock was set back it only
 * reads. pg-boss knows no clock that goes back.
 */
export async function returnToPresent(db: Database): Promise<void> {
  await db.execute(sql`
    with ahead as (
      select pgboss.job_now() as present, pgboss.job_now() + ${slack}::interval as future
    ), job as (
      update pgboss.job
      set start_after = case
            when state = 'retry' then present
            else start_after - (created_on - present)
          end,
          created_on = least(created_on, present)
      from ahead
      where name in (${sliceQueue}, ${runQueue}, ${sentQueue})
        and (state = 'created' and created_on > future or state = 'retry' and start_after > future)
    ), sent as (
      delete from pgboss.job
      using ahead
      where name = ${sentQueue} and state = 'completed' and created_on > future
    )
    update pgboss.version set cron_on = present from ahead where cron_on > future
  `);
}

/** Lets a waiting job start at once. The API sets `startAfter` when a job is sent, and never again. */
export async function startWaiting(db: Database, queue: string, key: string): Promise<void> {
  await db.execute(sql`
    update pgboss.job
    set start_after = now()
    where name = ${queue}
      and singleton_key = ${key}
      and state in ('created', 'retry')
      and start_after > now()
  `);
}

/** Takes jobs back that nobody has taken up. The API deletes jobs by their ids, or all of a queue. */
export async function dropWaiting(db: Database, queue: string, key: string): Promise<void> {
  await db.execute(sql`
    delete from pgboss.job
    where name = ${queue} and singleton_key = ${key} and state in ('created', 'retry')
  `);
}

/** A job that is taken up at once waits for no longer. */
const takenUpWithin = '1 second';

/** Whether a slice has been due for a while and no worker was free. The API counts those too that rest. */
export async function isSliceAwaited(db: Pick<Database, 'execute'>): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from pgboss.job
    where name = ${sliceQueue}
      and state in ('created', 'retry')
      and start_after < pgboss.job_now() - ${takenUpWithin}::interval
    limit 1
  `);
  return rows.length > 0;
}

/** Who attends to a lane's job: a worker that lives, nobody yet, or nobody until a time. */
export interface JobHolder {
  readonly lane: FeedLane;
  /** `held`: a living worker's session has its lock. */
  readonly is: 'held' | 'queued' | 'resting' | 'lost';
  /** ISO 8601; of a resting one, when it is due. */
  readonly until: string | null;
  /** Since it was queued, or taken up, in seconds. */
  readonly age_s: number;
}

/**
 * Every lane's unfinished job. A job whose worker was killed is still `active` in the queue, but no
 * session holds its lock: it is lost until somebody takes it over. Empty where no queue was made yet. The
 * API tells one job by its id, and counts, but not who is in the queue.
 */
export async function jobHolders(db: Pick<Database, 'execute'>): Promise<JobHolder[]> {
  const { rows: found } = await db.execute<{ is_there: boolean }>(
    sql`select to_regclass('pgboss.job') is not null as is_there`,
  );
  if (found[0]?.is_there !== true) return [];
  const { rows } = await db.execute<{ holder: JobHolder }>(sql`
    with locked as (
      select (classid::bigint << 32) | objid::bigint as key
      from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
    )
    select json_build_object(
      'lane', data,
      'is', case
        when state = 'active' and hashtextextended(id::text, 0) in (select key from locked) then 'held'
        when state = 'active' then 'lost'
        when start_after > now() then 'resting'
        else 'queued'
      end,
      'until', case when state <> 'active' and start_after > now() then start_after end,
      'age_s', extract(epoch from now() - case when state = 'active' then started_on else created_on end)
    ) as holder
    from pgboss.job
    where name = ${sliceQueue} and state in ('created', 'retry', 'active')
  `);
  return rows.map(({ holder }) => holder);
}

/** How many unfinished jobs of a queue are in a state. */
export interface QueueDepth {
  /** `slices` work on a lane's run, `runs` open one. */
  readonly queue: string;
  /** `queued`: due, and no worker has it. `resting`: not due yet. `active`: a worker has it. */
  readonly state: 'queued' | 'resting' | 'active';
  readonly jobs: number;
}

/**
 * How many jobs wait and are worked on; none of a state is told as 0. Empty where no queue was made yet. The
 * API counts those that rest among those that wait.
 */
export async function queueDepths(db: Pick<Database, 'execute'>): Promise<QueueDepth[]> {
  const { rows: found } = await db.execute<{ is_there: boolean }>(
    sql`select to_regclass('pgboss.job') is not null as is_there`,
  );
  if (found[0]?.is_there !== true) return [];
  const { rows } = await db.execute<{ depth: QueueDepth }>(sql`
    with told as (
      select name, case
               when state = 'active' then 'active'
               when start_after > pgboss.job_now() then 'resting'
               else 'queued'
             end as state
      from pgboss.job
      where name in (${sliceQueue}, ${runQueue}) and state in ('created', 'retry', 'active')
    )
    select json_build_object('queue', name, 'state', state, 'jobs', count(told.name)) as depth
    from unnest(array[${sliceQueue}, ${runQueue}]) as queue (name)
    cross join unnest(array['queued', 'resting', 'active']) as states (state)
    left join told using (name, state)
    group by name, state
    order by name, state
  `);
  return rows.map(({ depth }) => depth);
}

/** When a lane is polled by whoever works by schedules. */
export interface LaneTimes {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
}

/**
 * The schedules that the last `start` set; none where there was never one. The API tells them to a process
 * that has opened the queue.
 */
export async function schedulesSet(db: Pick<Database, 'execute'>): Promise<LaneTimes[]> {
  const { rows: found } = await db.execute<{ is_there: boolean }>(
    sql`select to_regclass('pgboss.schedule') is not null as is_there`,
  );
  if (found[0]?.is_there !== true) return [];
  const { rows } = await db.execute<{ times: LaneTimes }>(sql`
    select json_build_object('lane', data -> 'lane', 'cron', cron, 'timezone', timezone) as times
    from pgboss.schedule
    where name = ${runQueue}
  `);
  return rows.map(({ times }) => times);
}

/** A job whose worker is gone. */
export interface LostJob {
  readonly id: string;
  readonly name: string;
  readonly retry_count: number;
  readonly key: string;
}

/**
 * Locks a job for the session, and tells whether it is active as that attempt, so not given back before the lock was
 * there: $1 its id, $2 its queue, $3 the attempt.
 */
export const holdJob = `
  select pg_try_advisory_lock(hashtextextended($1::text, 0)),
         exists (
           select from pgboss.job
           where name = $2 and id = $1::text::uuid and state = 'active' and retry_count = $3
         ) as is_ours`;

/**
 * Jobs whose worker is gone: active ones whose lock nobody holds. The lock is tried for the length of one
 * statement, on a session that holds none, so that a living worker's is respected. The API finds a lost
 * worker by a time that passes, a minute at least.
 *
 * @param grace an interval in the spelling of Postgres: how long a worker may take to lock its job
 */
export async function lostJobs(pool: Pool, grace: string): Promise<LostJob[]> {
  const { rows } = await pool.query<LostJob>(
    `with active as materialized (
       select id, name, retry_count, singleton_key as key
       from pgboss.job
       where name = any($1) and state = 'active'
         -- Older, or younger than the clock: that was set back since.
         and (started_on < now() - $2::interval or started_on > now() + $2::interval)
     )
     select * from active where pg_try_advisory_xact_lock(hashtextextended(id::text, 0))`,
    [[sliceQueue, runQueue], grace],
  );
  return rows;
}
