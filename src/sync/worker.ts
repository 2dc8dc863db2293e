import { hostname } from 'node:os';
import type { Pool } from 'pg';
import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { createPool } from '../db/pool.ts';
import type { SessionWay } from '../db/route.ts';
import type { Host } from '../explorer/host.ts';
import { type FeedLane, feedName, laneName } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { packageVersion } from '../package-file.ts';
import { signals } from '../signals.ts';
import { every } from '../time.ts';
import { sliceQueue } from './queue.ts';
import { runSlice, type SliceDependencies } from './slice.ts';
import type { WalkProgress } from './walk.ts';
import { locks, posts } from './workers.ts';

/** How often the queue is looked at, in ms; at once when this process opens a run, or had no free place. */
const pollMs = 500;
/** In ms: well below the silence after which a worker counts as lost. */
const heartbeatMs = 10_000;
/** In ms: requests under way at a stop are paid for, so their answers are awaited. */
const stopGraceMs = 2_000;

export interface WorkerOptions extends SliceDependencies {
  readonly pool: Pool;
  /** Holds the session whose locks show that this process lives. */
  readonly session: SessionWay;
  readonly concurrency: number;
  /** Of the process, so that it is not missed if it begins again. */
  readonly workerId: string;
  /** Whose file it follows; null: it has none. */
  readonly deployment: string | null;
  /** Makes requests wait while the explorer fails. */
  readonly host: Host;
  /** Aborts with a fault of the database that reconnecting in place cannot cure; all work then ends. */
  readonly broken: AbortSignal;
  /** Judges a failure of the database: such a fault aborts `broken`. */
  readonly report: (error: unknown) => unknown;
}

/** Works on slices until stopped, and takes over those of lost workers. */
export async function startWorker(options: WorkerOptions) {
  const { pool, boss, log, session, concurrency } = options;
  const isLasting = options.onFailure === 'come-back';
  const presence = await openPresence(session, isLasting ? 'start' : 'once', options);
  const fetchPage = options.host.through(options.fetchPage, isLasting ? 'outlast' : 'give-up');
  const stopping = new AbortController();
  const abort = new AbortController();
  // A long-running worker logs its progress; a command draws its own.
  const logReading = isLasting ? readingLog(log, options.now) : () => undefined;
  const onCommit: WorkerOptions['onCommit'] = (lane, progress) => {
    logReading(lane, progress);
    options.onCommit(lane, progress);
  };
  const workOn = async (job: JobWithMetadata<FeedLane>) => {
    const holder = await presence.hold(job.data);
    const ends = { stopping: stopping.signal, abort: abort.signal };
    try {
      await runSlice(job, { ...options, fetchPage, onCommit }, ends);
    } finally {
      await presence.release(job.data, holder).catch(() => undefined);
    }
  };
  const watching = watchForLostLanes(pool, boss, log, stopping.signal);
  const slices = takeSlices(
    { boss, log, concurrency, workOn, report: options.report },
    stopping.signal,
  );
  return {
    /** Stops the slices, returns their jobs, and ends. */
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'));
      const grace = setTimeout(() => abort.abort(new Error('stopped')), stopGraceMs);
      await slices;
      clearTimeout(grace);
      await watching;
      await presence.close();
    },
  };
}

interface Taking extends Pick<WorkerOptions, 'boss' | 'log' | 'concurrency' | 'report'> {
  readonly workOn: (job: JobWithMetadata<FeedLane>) => Promise<void>;
}

/**
 * Takes slices from the queue while there are free places, in one statement for all of them, until the signal aborts.
 * @returns when every slice has ended
 */
async function takeSlices(
  { boss, log, concurrency, report, workOn }: Taking,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<JobWithMetadata<FeedLane>, Promise<void>>();
  let woken = Promise.withResolvers<void>();
  const wake = () => woken.resolve();
  const failed = (error: unknown) => {
    if (!signal.aborted) log.write('queue.failure', { error: describeDatabaseError(error) });
    report(error);
  };
  const start = async (job: JobWithMetadata<FeedLane>) => {
    try {
      await workOn(job);
      // Else the next slice is for the process that looks first: work spreads. A failed one waits.
      if (running.size === concurrency) wake();
    } catch (error) {
      failed(error);
      const { id, retryCount } = job;
      // Where the database is away, the queue misses the heartbeat.
      await boss.fail(sliceQueue, { id, retryCount }, { reason: 'it failed' }).catch(failed);
    } finally {
      running.delete(job);
    }
  };
  const take = async () => {
    const batchSize = concurrency - running.size;
    if (batchSize === 0) return;
    const how = { batchSize, includeMetadata: true } as const;
    for (const job of await boss.fetch<FeedLane>(sliceQueue, how)) running.set(job, start(job));
  };
  const beat = async () => {
    const held = [...running.keys()].map(({ id, retryCount }) => ({ id, retryCount }));
    if (held.length > 0) await boss.touch(sliceQueue, held);
  };
  const beating = every(heartbeatMs, signal, beat, failed);
  signals.on('queued', wake);
  signal.addEventListener('abort', wake, { once: true });
  while (!signal.aborted) {
    woken = Promise.withResolvers();
    const timer = setTimeout(wake, pollMs);
    await take().catch(failed);
    await woken.promise;
    clearTimeout(timer);
  }
  signals.off('queued', wake);
  await Promise.all(running.values());
  await beating;
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
    const known = lanes.get(laneName(lane));
    const isNew = known === undefined || at - known.lastMs > pauseMs;
    const read = isNew ? { pages: 0, items: 0, sinceMs: at, lastMs: at } : known;
    read.pages += pages;
    read.items += items;
    read.lastMs = at;
    lanes.set(laneName(lane), read);
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
export async function openPresence(
  way: SessionWay,
  post: keyof typeof posts,
  { workerId: id, deployment }: Pick<WorkerOptions, 'workerId' | 'deployment'>,
) {
  const session = createPool({
    ...way,
    max: 1,
    applicationName: 'explorer-etl locks',
    idleTimeoutMs: 0,
    dbTimeouts: { answerMs: silenceMs, server: { idle_session_timeout: silenceMs } },
  });
  const closing = new AbortController();
  const lock = 'select pg_backend_pid() as pid, pg_try_advisory_lock_shared($1, $2)';
  let registered: number | null = null;
  const beat = async () => {
    const { rows } = await session.query<{ pid: number }>(lock, [locks.process, posts[post]]);
    const pid = rows[0]?.pid ?? null;
    if (pid !== registered) {
      // One after another: what several lose together is one event. Its only session holds the lock.
      await session.query('select pg_advisory_lock($1, 0)', [locks.process]);
      try {
        await session.query(register, [id, post, deployment, hostname(), packageVersion()]);
      } finally {
        await session.query('select pg_advisory_unlock($1, 0)', [locks.process]);
      }
    }
    registered = pid;
  };
  await beat().catch(() => undefined);
  const beats = every(beatMs, closing.signal, beat, () => undefined);
  const take = `update etl.runs set taken_up_at = clock_timestamp(), failure = null, reason = null
    where feed || '/' || lane = $1 and state = 'open'`;
  const hold = `select pg_backend_pid() as pid, pg_advisory_lock_shared($1, hashtext($2))`;
  // A lost session holds nothing; a later slice of the lane may hold its lock in the new one.
  const release = `select pg_advisory_unlock_shared($1, hashtext($2)) where pg_backend_pid() = $3`;
  return {
    /** @returns who holds it */
    async hold(lane: FeedLane) {
      const { rows } = await session.query<{ pid: number }>(hold, [locks.lane, laneName(lane)]);
      // Only after the lock: otherwise the lane would look lost.
      await session.query(take, [laneName(lane)]);
      return rows[0]?.pid;
    },
    release: (lane: FeedLane, holder: number | undefined) =>
      session.query(release, [locks.lane, laneName(lane), holder]),
    close() {
      closing.abort();
      return beats
        .then(() => session.query('delete from etl.workers where id = $1', [id]))
        .catch(() => undefined)
        .then(() => session.end());
    },
  };
}

/** Notes a process and its session: $1 id, $2 kind, $3 deployment, $4 host, $5 version. One that had another session before is an event, once for all. */
const register = `
  with known as (
    select from etl.workers where id = $1
  ), registered as (
    insert into etl.workers (id, kind, deployment, host, version, backend)
    values ($1, $2, $3, $4, $5, pg_backend_pid())
    on conflict (id) do update set backend = excluded.backend, missing_since = null
  )
  insert into etl.events (kind, sentence)
  select 'connection-lost', case
      when pg_postmaster_start_time() > clock_timestamp() - interval '1 minute'
        then 'Postgres restarted. Workers have connected again.'
      else 'A worker lost its connection to the database, and has connected again.'
    end
  from known
  where not exists (
    select from etl.events
    where kind = 'connection-lost' and at > clock_timestamp() - interval '30 seconds'
  )`;

/** In seconds: a worker connects again within one; a frozen one counts as killed. */
const missingSeconds = 10;

/**
 * Takes back lanes whose lock is free, and notes workers that are gone: $1 and $2 locks of lanes and processes. The
 * process that clears the mark returns the job.
 */
const takeBack = `
  with taken as materialized (
    select id, taken_up_at, feed || '/' || lane as key
    from etl.runs where state = 'open' and taken_up_at is not null
  ), lost as materialized (
    select * from taken where pg_try_advisory_xact_lock($1, hashtext(key))
  ), back as (
    update etl.runs set taken_up_at = null, due_at = clock_timestamp()
    from lost where runs.id = lost.id and runs.taken_up_at = lost.taken_up_at
    returning key
  ), present as materialized (
    select pid from pg_locks
    where locktype = 'advisory' and classid = $2 and objsubid = 2 and mode = 'ShareLock'
  ), missing as (
    update etl.workers set missing_since = clock_timestamp()
    where missing_since is null and backend not in (select pid from present)
  ), gone as (
    delete from etl.workers
    where missing_since < clock_timestamp() - interval '${missingSeconds} seconds'
      and backend not in (select pid from present)
    returning missing_since
  ), noted as (
    insert into etl.events (at, kind, sentence)
    select missing_since, 'killed', 'A worker was killed, or cut off from the database for ${missingSeconds} s. Others continue its work.'
    from gone
  )
  select key from back`;

/** Returns the jobs of lost lanes to the queue until the signal aborts. */
export function watchForLostLanes(pool: Pool, boss: PgBoss, log: Log, signal: AbortSignal) {
  const watch = async () => {
    const { rows } = await pool.query<{ key: string }>(takeBack, [locks.lane, locks.process]);
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
