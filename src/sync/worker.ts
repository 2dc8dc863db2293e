import type { Pool } from 'pg';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { SessionWay } from '../db/route.ts';
import { type FeedLane, feedName } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { every } from '../time.ts';
import { keyOf, sliceQueue } from './queue.ts';
import { runSlice, type SliceDependencies } from './slice.ts';
import { linkAbort, type WalkProgress } from './walk.ts';
import { locks, posts } from './workers.ts';

/** In seconds; pg-boss's minimum. */
const pollSeconds = 0.5;
/** In ms: requests under way at a stop are paid for, so their answers are awaited. */
const stopGraceMs = 2_000;

export interface WorkerOptions extends SliceDependencies {
  readonly pool: Pool;
  /** Holds the session whose locks show that this process lives. */
  readonly session: SessionWay;
  readonly concurrency: number;
}

/** Works on slices until stopped, and takes over those of lost workers. */
export async function startWorker(options: WorkerOptions) {
  const { pool, boss, log, session, concurrency } = options;
  const isLasting = options.onFailure === 'come-back';
  const presence = await openPresence(session, isLasting ? 'start' : 'once');
  const stopping = new AbortController();
  const abort = new AbortController();
  const running = new Set<Promise<void>>();
  // A long-running worker logs its progress; a command draws its own.
  const logReading = isLasting ? readingLog(log, options.now) : () => undefined;
  const onCommit: WorkerOptions['onCommit'] = (lane, progress) => {
    logReading(lane, progress);
    options.onCommit(lane, progress);
  };
  const watching = watchForLostLanes(pool, boss, log, stopping.signal);
  await boss.work(
    sliceQueue,
    {
      includeMetadata: true,
      localConcurrency: concurrency,
      pollingIntervalSeconds: pollSeconds,
      notifyPollingIntervalSeconds: pollSeconds,
    },
    async ([job]: JobWithMetadata<FeedLane>[]) => {
      if (job === undefined) return;
      const holder = await presence.hold(job.data);
      using either = linkAbort(job.signal, abort.signal);
      const signals = { stopping: stopping.signal, abort: either.signal };
      const slice = runSlice(job, { ...options, onCommit }, signals);
      running.add(slice);
      try {
        await slice;
      } finally {
        running.delete(slice);
        await presence.release(job.data, holder).catch(() => undefined);
      }
    },
  );
  return {
    /** Stops the slices, returns their jobs, and ends. */
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'));
      const grace = setTimeout(() => abort.abort(new Error('stopped')), stopGraceMs);
      await Promise.allSettled(running);
      clearTimeout(grace);
      await boss.offWork(sliceQueue, { wait: true });
      await watching;
      await presence.close();
    },
  };
}

const everyMs = 60_000;
/** In ms: after such a pause the count restarts, since polls are no long reading. */
const pauseMs = 30_000;

/** Logs once a minute what a lane has read: a history takes days. `now` is monotonic, in ms. */
export function readingLog(
  log: Log,
  now: () => number,
): (lane: FeedLane, progress: Pick<WalkProgress, 'pages' | 'items'>) => void {
  const lanes = new Map<string, Record<'pages' | 'items' | 'sinceMs' | 'lastMs', number>>();
  return (lane, { pages, items }) => {
    const at = now();
    const known = lanes.get(keyOf(lane));
    const isNew = known === undefined || at - known.lastMs > pauseMs;
    const read = isNew ? { pages: 0, items: 0, sinceMs: at, lastMs: at } : known;
    read.pages += pages;
    read.items += items;
    read.lastMs = at;
    lanes.set(keyOf(lane), read);
    if (at - read.sinceMs < everyMs) return;
    const seconds = Math.round((at - read.sinceMs) / 1000);
    const total = { items: read.items, pages: read.pages, seconds };
    log.write('feed.reading', { feed: feedName(lane), lane: lane.lane, ...total });
    Object.assign(read, { pages: 0, items: 0, sinceMs: at });
  };
}

/** The server ends a silent session: a frozen process would keep its locks for hours. */
const [watchMs, beatMs, silenceMs] = [500, 500, 2_000];

/** A process's locks. Postgres drops them with its session: others go on within 4 s, not 30 s as with pg-boss. */
export async function openPresence(way: SessionWay, post: keyof typeof posts) {
  const session = createPool({
    ...way,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, server: { idle_session_timeout: silenceMs } },
  });
  const closing = new AbortController();
  const lock = 'select pg_try_advisory_lock_shared($1, $2)';
  const beat = async () => void (await session.query(lock, [locks.process, posts[post]]));
  await beat().catch(() => undefined);
  const beats = every(beatMs, closing.signal, beat, () => undefined);
  const take = `update etl.runs set taken_up_at = clock_timestamp()
    where feed || '/' || lane = $1 and state = 'open'`;
  const hold = `select pg_backend_pid() as pid, pg_advisory_lock_shared($1, hashtext($2))`;
  // A lost session holds nothing; a later slice of the lane may hold its lock in the new one.
  const release = `select pg_advisory_unlock_shared($1, hashtext($2)) where pg_backend_pid() = $3`;
  return {
    /** @returns who holds it */
    async hold(lane: FeedLane) {
      const { rows } = await session.query<{ pid: number }>(hold, [locks.lane, keyOf(lane)]);
      // Only after the lock: otherwise the lane would look lost.
      await session.query(take, [keyOf(lane)]);
      return rows[0]?.pid;
    },
    release: (lane: FeedLane, holder: number | undefined) =>
      session.query(release, [locks.lane, keyOf(lane), holder]),
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
