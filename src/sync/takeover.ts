import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import type { PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { Ways } from '../db/route.ts';
import type { Database } from '../db/transaction.ts';
import { every } from '../every.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { keyOf, sliceQueue } from './queue.ts';

// Workers hold locks in a session of their own, which Postgres drops with the process: another
// worker continues a lane within 3 s, not after the 30 s of pg-boss's heartbeats.

/** First keys of the locks: 'etlw' and 'etll' in ASCII. */
const locks = { process: 0x65_74_6c_77, lane: 0x65_74_6c_6c } as const;
/** `start`, or a command that ends: `sync`, `backfill`, `repair`. */
const posts = { start: 1, once: 2 } as const;
const watchIntervalMs = 500;
/** The server ends a silent session: a frozen process would keep its locks for hours. */
const [beatMs, silenceMs] = [500, 2_000];

/** Opens a process's lock session; the next beat reopens a lost one. */
export async function openPresence({ url, isPooled }: Ways['session'], post: keyof typeof posts) {
  const session = createPool({
    url,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, idleSessionMs: silenceMs },
    ...(isPooled && { pooled: 'sessions' }),
  });
  const closing = new AbortController();
  const lock = 'select pg_try_advisory_lock_shared($1, $2)';
  const beat = async () => void (await session.query(lock, [locks.process, posts[post]]));
  await beat().catch(() => undefined);
  const beats = every(beatMs, closing.signal, beat, () => undefined);
  return {
    async hold(lane: FeedLane) {
      const key = keyOf(lane);
      await session.query('select pg_advisory_lock_shared($1, hashtext($2))', [locks.lane, key]);
      // Only after the lock: otherwise the lane would look lost.
      await session.query(
        `update etl.runs set taken_up_at = clock_timestamp()
         where feed || '/' || lane = $1 and state = 'open'`,
        [key],
      );
    },
    async release(lane: FeedLane) {
      const unlock = 'select pg_advisory_unlock_shared($1, hashtext($2))';
      await session.query(unlock, [locks.lane, keyOf(lane)]);
    },
    async close() {
      closing.abort();
      await beats;
      await session.end();
    },
  };
}

/** This database's locks that workers hold; a test whether one is free takes it exclusively. */
const shared = sql`
  select classid, objid from pg_locks
  where locktype = 'advisory' and granted and objsubid = 2 and mode = 'ShareLock'
    and database = (select oid from pg_database where datname = current_database())`;

export type Workers = Readonly<Record<keyof typeof posts, number>>;

/** The processes that work on the database. Only the primary knows them. */
export async function presentWorkers(db: Pick<Database, 'execute'>): Promise<Workers> {
  const { rows } = await db.execute<Workers & Record<string, unknown>>(sql`
    select count(*) filter (where objid = ${posts.start})::int as start,
           count(*) filter (where objid = ${posts.once})::int as once
    from (${shared}) as shared where classid = ${locks.process}
  `);
  return { start: rows[0]?.start ?? 0, once: rows[0]?.once ?? 0 };
}

/** A lane's open run: held by a worker, waiting for one, not yet due, or lost by its worker. */
export interface LaneHolder {
  readonly lane: FeedLane;
  readonly is: 'held' | 'queued' | 'resting' | 'lost';
  /** When a resting run is due, ISO 8601. */
  readonly until: string | null;
  /** Seconds since it was due or taken up. */
  readonly age_s: number;
}

/** Every lane with an open run, except those that a process released. */
export async function laneHolders(db: Pick<Database, 'execute'>): Promise<LaneHolder[]> {
  const { rows } = await db.execute<{ holder: LaneHolder }>(sql`
    with shared as materialized (${shared})
    select json_build_object(
      'lane', json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane),
      'is', case
        when taken_up_at is null and due_at > clock_timestamp() then 'resting'
        when taken_up_at is null then 'queued'
        when (${locks.lane}, hashtext(feed || '/' || lane)::bigint & 4294967295)
          in (select classid::bigint, objid::bigint from shared) then 'held'
        else 'lost'
      end,
      'until', case when taken_up_at is null and due_at > clock_timestamp() then due_at end,
      'age_s', extract(epoch from clock_timestamp() - coalesce(taken_up_at, due_at))
    ) as holder
    from etl.runs
    where state = 'open' and (taken_up_at is not null or due_at is not null)
  `);
  return rows.map(({ holder }) => holder);
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
      const jobs = await boss.findJobs(sliceQueue, { key });
      for (const { id, retryCount } of jobs.filter(({ state }) => state === 'active')) {
        await boss.fail(sliceQueue, { id, retryCount }, { reason: 'its worker is gone' });
      }
      log.write('job.taken-over', { queue: sliceQueue, key });
    }
  };
  return every(watchIntervalMs, signal, watch, (error) => {
    if (!signal.aborted) log.write('watch.failure', { error: describeDatabaseError(error) });
  });
}
