import type { Pool } from 'pg';
import type { JobWithMetadata } from 'pg-boss';
import type { SessionWay } from '../db/route.ts';
import { type FeedLane, feedName } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { linkAbort } from './abort.ts';
import { sliceQueue } from './queue.ts';
import { runSlice, type SliceDependencies } from './slice.ts';
import { openPresence, watchForLostLanes } from './takeover.ts';
import type { WalkProgress } from './walk.ts';

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
      await presence.hold(job.data);
      using either = linkAbort(job.signal, abort.signal);
      const signals = { stopping: stopping.signal, abort: either.signal };
      const slice = runSlice(job, { ...options, onCommit }, signals);
      running.add(slice);
      try {
        await slice;
      } finally {
        running.delete(slice);
        await presence.release(job.data).catch(() => undefined);
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
    const key = `${feedName(lane)} ${lane.lane}`;
    const at = now();
    const known = lanes.get(key);
    const isNew = known === undefined || at - known.lastMs > pauseMs;
    const before = isNew ? { pages: 0, items: 0, sinceMs: at } : known;
    const read = { items: before.items + items, pages: before.pages + pages };
    const ms = at - before.sinceMs;
    if (ms < everyMs) {
      lanes.set(key, { ...read, sinceMs: before.sinceMs, lastMs: at });
      return;
    }
    const seconds = Math.round(ms / 1000);
    log.write('feed.reading', { feed: feedName(lane), lane: lane.lane, ...read, seconds });
    lanes.set(key, { pages: 0, items: 0, sinceMs: at, lastMs: at });
  };
}
