import type { Pool } from 'pg';
import type { JobWithMetadata } from 'pg-boss';
import type { Ways } from '../db/route.ts';
import { type FeedLane, feedName } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import { linkAbort } from './abort.ts';
import { sliceQueue } from './queue.ts';
import { runSlice, type SliceDependencies } from './slice.ts';
import { openPresence, watchForLostLanes } from './takeover.ts';
import type { WalkProgress } from './walk.ts';

/** How often a worker that was not woken looks for jobs, in seconds; pg-boss's minimum. */
const pollSeconds = 0.5;
/** Requests under way at a stop may still be answered, in ms; they are paid for. */
const stopGraceMs = 2_000;

export interface WorkerOptions extends SliceDependencies {
  readonly pool: Pool;
  /** Where the session is kept that shows that this process lives. */
  readonly session: Ways['session'];
  /** Slices at once in this process. */
  readonly concurrency: number;
}

export interface Worker {
  /** Lets slices come to rest, gives their jobs back, and ends. */
  stop(): Promise<void>;
}

/** Who works for days says now and then how far it is; a command draws that itself. */
function withReadingLog({ log, now, onCommit }: WorkerOptions): WorkerOptions['onCommit'] {
  const write = readingLog(log, now);
  return (lane, progress) => {
    write(lane, progress);
    onCommit(lane, progress);
  };
}

/** Works on slices until stopped, and takes over those whose worker is gone. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { pool, boss, log, session, concurrency } = options;
  const presence = await openPresence(
    session,
    options.onFailure === 'come-back' ? 'start' : 'once',
  );
  const stopping = new AbortController();
  const abort = new AbortController();
  const running = new Set<Promise<void>>();
  const watched =
    options.onFailure === 'come-back' ? { ...options, onCommit: withReadingLog(options) } : options;
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
      const slice = runSlice(job, watched, {
        stopping: stopping.signal,
        abort: either.signal,
      });
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
    async stop() {
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

/** How often a lane that goes on reading says so, in ms. */
const everyMs = 60_000;
/** After so long without a page it counts from zero: a poll every minute is no long reading, in ms. */
const pauseMs = 30_000;

/** What was read since the last log line. */
interface Read {
  readonly pages: number;
  readonly items: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/**
 * Says once a minute what a lane has read, while it reads: the end of a long history is days away.
 *
 * @param now monotonic, in ms
 * @returns a listener for each commit
 */
export function readingLog(
  log: Log,
  now: () => number,
): (lane: FeedLane, progress: Pick<WalkProgress, 'pages' | 'items'>) => void {
  const lanes = new Map<string, Read>();
  return (lane, { pages, items }) => {
    const key = `${feedName(lane)} ${lane.lane}`;
    const at = now();
    const known = lanes.get(key);
    const isNew = known === undefined || at - known.lastMs > pauseMs;
    const before = isNew ? { pages: 0, items: 0, sinceMs: at } : known;
    const read = {
      pages: before.pages + pages,
      items: before.items + items,
      sinceMs: before.sinceMs,
      lastMs: at,
    };
    const ms = at - read.sinceMs;
    if (ms < everyMs) {
      lanes.set(key, read);
      return;
    }
    log.write('feed.reading', {
      feed: feedName(lane),
      lane: lane.lane,
      items: read.items,
      pages: read.pages,
      seconds: Math.round(ms / 1000),
    });
    lanes.set(key, { pages: 0, items: 0, sinceMs: at, lastMs: at });
  };
}
