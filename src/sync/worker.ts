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

/** In seconds; pg-boss's minimum. */
const pollSeconds = 0.5;
/** In ms: requests under way at a stop are paid for, so their answers are awaited. */
const stopGraceMs = 2_000;

export interface WorkerOptions extends SliceDependencies {
  readonly pool: Pool;
  /** Holds the session whose locks show that this process lives. */
  readonly session: Ways['session'];
  readonly concurrency: number;
}

export interface Worker {
  /** Stops the slices, returns their jobs, and ends. */
  stop(): Promise<void>;
}

/** A long-running worker logs its progress; a command draws its own. */
function withReadingLog({ log, now, onCommit }: WorkerOptions): WorkerOptions['onCommit'] {
  const write = readingLog(log, now);
  return (lane, progress) => {
    write(lane, progress);
    onCommit(lane, progress);
  };
}

/** Works on slices until stopped, and takes over those of lost workers. */
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

const everyMs = 60_000;
/** In ms: after such a pause the count restarts, since polls are no long reading. */
const pauseMs = 30_000;

interface Read {
  readonly pages: number;
  readonly items: number;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** Logs once a minute what a lane has read: a history takes days. `now` is monotonic, in ms. */
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
