import type { Pool } from 'pg';
import type { JobWithMetadata } from 'pg-boss';
import { publishChanges } from '../db/changes.ts';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { Host } from '../explorer/host.ts';
import { type FeedLane, feedName, laneName } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { type PageCommitted, signals } from '../signals.ts';
import { every } from '../time.ts';
import { fetchSlices, leaveSlice, sliceQueue, takeSlice, takeUp } from './queue.ts';
import { runSlice, type SliceDependencies } from './slice.ts';
import type { WalkProgress } from './walk.ts';
import { beatMs, openPresence, type Worker } from './workers.ts';

/** How often the queue is looked at, in ms, while this process works and while it does not; at once when it opens a run. */
const pollMs = { busy: 500, idle: 3_000 } as const;
/** How long a job waits that this process does not work on, in ms. */
const notMineMs = 10_000;
/** How often workers that were lost before they took a lane are looked for, in ms; others at once. */
const superviseMs = 10_000;
/** How often open runs without a job are looked for, in ms. */
const takeUpMs = 60_000;
/** In ms: requests under way at a stop are paid for, so their answers are awaited. */
const stopGraceMs = 2_000;

export interface WorkerOptions extends SliceDependencies, Worker {
  readonly pool: Pool;
  /** Connections that wait for no page. */
  readonly aside: Database;
  readonly concurrency: number;
  /** Makes requests wait while the explorer fails. */
  readonly host: Host;
  /** Aborts with a fault of the database that reconnecting in place cannot cure; all work then ends. */
  readonly broken: AbortSignal;
  /** Judges a failure of the database: such a fault aborts `broken`. */
  readonly report: (error: unknown) => unknown;
}

/** Works on slices until stopped, and takes over those of lost workers. */
export function startWorker(options: WorkerOptions) {
  const { log, works } = options;
  const isLasting = options.kind === 'start';
  const presence = openPresence(options.aside, options);
  const fetchPage = options.host.through(options.fetchPage, isLasting ? 'outlast' : 'give-up');
  const stopping = new AbortController();
  const abort = new AbortController();
  // A long-running worker logs its progress; a command draws its own.
  const reading = isLasting ? { onCommit: readingLog(log, options.now) } : {};
  // As the queue orders them: what is new is read before what is old.
  let turn: Promise<unknown> = Promise.resolve();
  const workOn = async (job: JobWithMetadata<FeedLane>) => {
    const lane = job.data;
    if (!works(lane)) {
      await leaveSlice({ ...options, job }, notMineMs);
      return 'left';
    }
    const take = () => takeSlice({ ...options, job }, options.workerId);
    const taken = turn.then(take, take);
    turn = taken;
    const how = await taken;
    if (how === 'gone') return 'left';
    if (how === 'taken-over') {
      log.write('job.taken-over', { queue: sliceQueue, key: laneName(lane) });
    }
    const ends = { stopping: stopping.signal, abort: abort.signal };
    await runSlice(job, { ...options, ...reading, fetchPage }, ends);
    return 'done';
  };
  const changes = openChanges(options);
  const beat = async () => {
    const isLost = await presence.beat();
    await changes.publishIfDue();
    return isLost;
  };
  const slices = takeSlices(options, workOn, beat, stopping.signal);
  const end = async (): Promise<void> => {
    stopping.abort(new Error('stopping'));
    const grace = setTimeout(() => abort.abort(new Error('stopped')), stopGraceMs);
    await slices;
    clearTimeout(grace);
    // Where the database is away, others publish its changes, and miss it.
    await changes.close().catch(() => undefined);
    await presence.close().catch(() => undefined);
  };
  let ended: Promise<void> | null = null;
  /** Stops the slices, returns their jobs, and ends, once: no request is made from now on. */
  return { stop: () => (ended ??= end()) };
}

/** How often the bound of changes moves while this process commits no page, in ms: another one may have been killed. */
const idlePublishMs = 30_000;

/** Publishes changes, and announces them if pages were committed since the last time. */
function openChanges({ db, aside, now }: Pick<WorkerOptions, 'db' | 'aside' | 'now'>) {
  let commits = 0;
  let announced = 0;
  let publishedMs = -Infinity;
  const note = ({ by }: PageCommitted) => {
    if (by === db.$client) commits += 1;
  };
  const publish = async () => {
    const upTo = commits;
    publishedMs = now();
    await publishChanges(aside, upTo > announced ? 'announced' : 'in silence');
    announced = upTo;
  };
  const publishIfDue = async () => {
    if (commits > announced || now() - publishedMs >= idlePublishMs) await publish();
  };
  signals.on('commit', note);
  const close = () => {
    signals.off('commit', note);
    return publish();
  };
  return { publishIfDue, close };
}

/**
 * Takes slices from the queue while there are free places, until the signal aborts and every slice has ended.
 * @param beat shows that the process lives; whether a lane was lost with another one
 */
async function takeSlices(
  { boss, aside, log, concurrency, report, kind, works }: WorkerOptions,
  workOn: (job: JobWithMetadata<FeedLane>) => Promise<'done' | 'left'>,
  beat: () => Promise<boolean>,
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
      const how = await workOn(job);
      // Else the next slice is for the process that looks first: work spreads. A failed one waits.
      if (how === 'left' || running.size === concurrency) wake();
    } catch (error) {
      failed(error);
      // Where the database is away, the queue misses the heartbeat.
      await boss.fail(sliceQueue, job, { reason: 'it failed' }).catch(failed);
    } finally {
      running.delete(job);
    }
  };
  const take = async () => {
    const batchSize = concurrency - running.size;
    if (batchSize === 0) return;
    // A start works on all lanes.
    const jobs = await fetchSlices({ boss, db: aside }, kind === 'start' ? null : works, batchSize);
    for (const job of jobs) running.set(job, start(job));
  };
  const touch = async () => {
    if (running.size > 0) await boss.touch(sliceQueue, [...running.keys()]);
  };
  const look = async () => {
    if (await beat()) await boss.supervise(sliceQueue);
  };
  const ending = new AbortController();
  const showing = [
    every(beatMs, ending.signal, touch, failed),
    every(beatMs, ending.signal, look, failed),
    every(superviseMs, ending.signal, () => boss.supervise(sliceQueue), failed),
    every(takeUpMs, ending.signal, () => takeUp({ boss, db: aside }, works), failed),
  ];
  signals.on('queued', wake);
  signal.addEventListener('abort', wake, { once: true });
  while (!signal.aborted) {
    woken = Promise.withResolvers();
    await take().catch(failed);
    const timer = setTimeout(wake, running.size > 0 ? pollMs.busy : pollMs.idle);
    await woken.promise;
    clearTimeout(timer);
  }
  signals.off('queued', wake);
  await Promise.all(running.values());
  ending.abort();
  await Promise.all(showing);
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
