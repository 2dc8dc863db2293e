import { feedName, type FeedLane } from '../lists/feed.ts';
import type { Log } from '../log.ts';
import type { WalkProgress } from '../walk/walk.ts';

/** How often a lane that goes on reading says so, in ms. */
const everyMs = 60_000;
/** After so long without a page it has begun anew: a poll every minute is no long reading, in ms. */
const pauseMs = 30_000;

/** What was read since it was last told. */
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
 * @returns what is to be told of each commit
 */
export function readingNews(
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
    log.tell('feed.reading', {
      feed: feedName(lane),
      lane: lane.lane,
      items: read.items,
      pages: read.pages,
      seconds: Math.round(ms / 1000),
    });
    lanes.set(key, { pages: 0, items: 0, sinceMs: at, lastMs: at });
  };
}
