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

/** What a process is there for: to work until it is stopped (`start`), or once (`sync`, `backfill`, `repair`). */
export type Post = 'start' | 'once';

/** The processes that work on a database. */
export type Workers = Readonly<Record<Post, number>>;

/** First halves of the locks of processes and of lanes, 'etlw' and 'etll' in ASCII. */
const locks = { process: 0x65_74_6c_77, lane: 0x65_74_6c_6c } as const;
const posts = { start: 1, once: 2 } as const;

/** How often workers look for lanes whose worker is gone, in ms; pg-boss's heartbeats would take 30 s and more. */
const watchIntervalMs = 500;

/**
 * How often the session says that this process still runs, and after how long a silence the server ends it, in ms.
 * A process that is frozen or cut off would else keep its connection, and with it its locks, for hours.
 */
const beatMs = 500;
const silenceMs = 2_000;

/** A session whose locks show others that this process lives, and which lanes it works on. */
export interface Presence {
  hold(lane: FeedLane): Promise<void>;
  release(lane: FeedLane): Promise<void>;
  close(): Promise<void>;
}

/** Opens that session; one that is lost is opened again by the next beat. Postgres drops its locks when the process dies. */
export async function openPresence(
  { url, isPooled }: Ways['session'],
  post: Post,
): Promise<Presence> {
  const session = createPool({
    url,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, idleSessionMs: silenceMs },
    ...(isPooled && { pooled: 'sessions' }),
  });
  const show = 'select pg_try_advisory_lock_shared($1, $2)';
  // A beat that waits for the one before it would only queue up.
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    await session.query(show, [locks.process, posts[post]]).catch(() => undefined);
    isBeating = false;
  };
  await beat();
  const beats = setInterval(() => void beat(), beatMs).unref();
  return {
    async hold(lane) {
      await session.query('select pg_advisory_lock_shared($1, hashtext($2))', [
        locks.lane,
        keyOf(lane),
      ]);
      // After its lock: before it, the lane would look lost.
      await session.query(
        `update etl.runs set taken_up_at = clock_timestamp()
         where feed || '/' || lane = $1 and state = 'open'`,
        [keyOf(lane)],
      );
    },
    async release(lane) {
      const key = keyOf(lane);
      await session.query('select pg_advisory_unlock_shared($1, hashtext($2))', [locks.lane, key]);
    },
    async close() {
      clearInterval(beats);
      await session.end();
    },
  };
}

/** As SQL: this database's locks of ours that are granted to workers; a look at whether one is free is exclusive. */
const shared = sql`
  select classid, objid from pg_locks
  where locktype = 'advisory' and granted and objsubid = 2 and mode = 'ShareLock'
    and database = (select oid from pg_database where datname = current_database())`;

/** Who works now. Only the primary sees it. */
export async function presentWorkers(db: Pick<Database, 'execute'>): Promise<Workers> {
  const { rows } = await db.execute<Workers & Record<string, unknown>>(sql`
    select count(*) filter (where objid = ${posts.start})::int as start,
           count(*) filter (where objid = ${posts.once})::int as once
    from (${shared}) as shared where classid = ${locks.process}
  `);
  return { start: rows[0]?.start ?? 0, once: rows[0]?.once ?? 0 };
}

/** Who attends to a lane's open run: a live worker, none yet, none until a time, or a dead one. */
export interface LaneHolder {
  readonly lane: FeedLane;
  readonly is: 'held' | 'queued' | 'resting' | 'lost';
  /** ISO 8601; of a resting one, when it is due. */
  readonly until: string | null;
  /** Since it was due, or taken up, in seconds. */
  readonly age_s: number;
}

/** Every lane whose run is open, but for those that a process let go of. */
export async function laneHolders(db: Pick<Database, 'execute'>): Promise<LaneHolder[]> {
  const { rows } = await db.execute<{ holder: LaneHolder }>(sql`
    with shared as materialized (${shared})
    select json_build_object(
      'lane', json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane),
      'is', case
        when taken_up_at is null and due_at > clock_timestamp() then 'resting'
        when taken_up_at is null then 'queued'
        when exists (
          select from shared
          where classid = ${locks.lane}
            and objid::bigint = hashtext(feed || '/' || lane)::bigint & 4294967295
        ) then 'held'
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

/** Takes back lanes whose lock is free. The first worker clears the note, so that only one gives back the job. */
const takeBack = `
  with taken as materialized (
    select id, taken_up_at, feed || '/' || lane as key
    from etl.runs where state = 'open' and taken_up_at is not null
  ), lost as materialized (
    select * from taken where pg_try_advisory_xact_lock($1, hashtext(key))
  )
  update etl.runs set taken_up_at = null, due_at = clock_timestamp()
  from lost where runs.id = lost.id and runs.taken_up_at = lost.taken_up_at
  returning key`;

/** Gives the jobs of lanes whose worker is gone back to the queue, until the signal aborts. */
export function watchForLostLanes(
  pool: Pool,
  boss: PgBoss,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const poll = async () => {
    const { rows } = await pool.query<{ key: string }>(takeBack, [locks.lane]);
    for (const { key } of rows) {
      const jobs = await boss.findJobs(sliceQueue, { key });
      for (const { id, retryCount } of jobs.filter(({ state }) => state === 'active')) {
        await boss.fail(sliceQueue, { id, retryCount }, { reason: 'its worker is gone' });
      }
      log.tell('job.taken-over', { queue: sliceQueue, key });
    }
  };
  return every(watchIntervalMs, signal, poll, (error) => {
    if (!signal.aborted) log.tell('watch.failure', { error: describeDatabaseError(error) });
  });
}
