import { failures } from '../failure.ts';
import { feedName, type FeedLane } from '../lists/feed.ts';
import type { RunLeft } from '../lists/run-left.ts';
import type { LaneCounts } from '../report/progress.ts';
import { printable } from '../printable.ts';
import type { FeedLine, FeedShare, FeedStand } from '../terminal/feed-lines.ts';
import { duration, whole } from '../terminal/numbers.ts';

/** A feed that a command works on, and what people call it. */
export interface WatchedFeed {
  readonly feed: string;
  readonly chain: string;
  readonly list: string;
  readonly lanes: readonly FeedLane[];
}

/** What a command's feeds have come to since it began, from what is seen of them now and then. Times in ms. */
export interface FeedTrack {
  see(counts: readonly LaneCounts[], at: number): void;
  reckon(left: ReadonlyMap<FeedLane, RunLeft>): void;
  /** Those that began, in the order that they were given in. */
  lines(at: number): TrackedLine[];
  /** The lanes that have a run open. */
  readonly open: readonly FeedLane[];
}

/** A line, and the feed that it is of. */
export interface TrackedLine extends FeedLine {
  readonly feed: string;
}

/** A lane as it was when it was looked at first: what it had come to is no progress of this command. */
interface Start {
  readonly counts: LaneCounts;
  /** Pages of its newest run by then: whoever joins that run goes on from there. */
  readonly runPages: number;
}

/** What a lane had left when that was reckoned, and its pages by then. */
interface Reckoned {
  readonly left: RunLeft;
  readonly pages: number;
}

/** So far back a pace is taken from, in ms: long enough for a page of a slow service. */
const paceWindowMs = 30_000;
/** A pace of less time than this tells nothing, in ms. */
const leastPaceMs = 1_500;
/** After so long without a page a line says so, in ms. */
const quietMs = 15_000;

/** How a feed's amount moved lately. */
interface Sample {
  readonly at: number;
  readonly pages: number;
  readonly rows: number;
  /** Of what people count themselves; null: nothing, or it was not known yet. */
  readonly done: number | null;
}

/** A feed as it is followed. */
interface Followed {
  readonly feed: WatchedFeed;
  samples: readonly Sample[];
  beganAt: number | null;
  endedAt: number | null;
  movedAt: number;
}

interface TrackOptions {
  /** Pages of each run that was the newest of its lane before the command began. */
  readonly runPages: ReadonlyMap<number, number>;
  /** Pages of each feed that are wanted at most; null: all that there are. */
  readonly mostPages: number | null;
}

/**
 * Follows feeds from what was seen of them before a command began.
 *
 * @param starts what that was
 */
export function trackFeeds(
  feeds: readonly WatchedFeed[],
  starts: readonly LaneCounts[],
  { runPages, mostPages }: TrackOptions,
): FeedTrack {
  const start = new Map<string, Start>(
    starts.map((counts) => [
      laneKey(counts),
      { counts, runPages: runPages.get(counts.run_id) ?? 0 },
    ]),
  );
  const reckoned = new Map<string, Reckoned>();
  const followed = feeds.map((feed): Followed => ({
    feed,
    samples: [],
    beganAt: null,
    endedAt: null,
    movedAt: 0,
  }));
  let seen: readonly LaneCounts[] = starts;
  const lanesOf = ({ feed }: WatchedFeed) =>
    seen.filter((lane) => lane.feed === feed && hasBegun(lane, start.get(laneKey(lane))));
  return {
    see(counts, at) {
      seen = counts;
      for (const one of followed)
        follow(one, lanesOf(one.feed), { start, reckoned, mostPages, at });
    },
    reckon(left) {
      for (const [lane, told] of left) {
        const key = laneKey({ feed: feedName(lane), lane: lane.lane });
        const counts = seen.find((one) => laneKey(one) === key);
        if (counts !== undefined) reckoned.set(key, { left: told, pages: counts.pages });
      }
    },
    lines: (at) =>
      followed.flatMap((one) => {
        const lanes = lanesOf(one.feed);
        return lanes.length === 0 ? [] : [lineOf(one, lanes, { start, reckoned, mostPages, at })];
      }),
    get open() {
      const isOpen = new Set(
        seen.flatMap((lane) => (lane.run_state === 'open' ? [laneKey(lane)] : [])),
      );
      return feeds
        .flatMap(({ lanes }) => lanes)
        .filter((lane) => isOpen.has(laneKey({ feed: feedName(lane), lane: lane.lane })));
    },
  };
}

interface Known {
  readonly start: ReadonlyMap<string, Start>;
  readonly reckoned: ReadonlyMap<string, Reckoned>;
  readonly mostPages: number | null;
  readonly at: number;
}

const laneKey = ({ feed, lane }: Pick<LaneCounts, 'feed' | 'lane'>) => `${feed} ${lane}`;

/** What an earlier command left as its last word is no progress of this one. */
const hasBegun = ({ run_id, run_state }: LaneCounts, start: Start | undefined) =>
  run_state === 'open' || run_id !== start?.counts.run_id || run_state !== start.counts.run_state;

const isOver = (lanes: readonly LaneCounts[]) =>
  lanes.every(({ run_state }) => run_state !== 'open');

function follow(one: Followed, lanes: readonly LaneCounts[], known: Known): void {
  if (lanes.length === 0) return;
  const { at } = known;
  one.beganAt ??= at;
  // A run that follows another one begins before anybody looks in between.
  one.endedAt = isOver(lanes) ? (one.endedAt ?? at) : null;
  const { rows, pages } = amounts(lanes, known);
  const last = one.samples.at(-1);
  if (last === undefined || last.pages !== pages) one.movedAt = at;
  const share = shareOf(lanes, known);
  const done = share?.isCounted === true ? share.done : null;
  // The one before the window stays: it is where the window begins.
  const from = one.samples.findLastIndex((sample) => sample.at <= at - paceWindowMs);
  one.samples = [...one.samples.slice(Math.max(0, from)), { at, pages, rows, done }];
}

function amounts(lanes: readonly LaneCounts[], { start }: Known) {
  const sum = (of: 'rows' | 'pages' | 'credits') =>
    lanes.reduce((all, lane) => {
      const before = start.get(laneKey(lane))?.counts[of] ?? 0;
      return all + Math.max(0, lane[of] - before);
    }, 0);
  return { rows: sum('rows'), pages: sum('pages'), credits: sum('credits') };
}

/** Of a feed's lanes that which is longest says how far it is: history, where it is read. */
function shareOf(lanes: readonly LaneCounts[], known: Known): FeedShare | null {
  if (known.mostPages !== null) {
    const done = Math.min(known.mostPages, amounts(lanes, known).pages);
    return { done, total: known.mostPages, isReckoned: true, isCounted: false };
  }
  const shares = lanes.flatMap((lane) => shareOfLane(lane, known) ?? []);
  const open = lanes.filter(({ run_state }) => run_state === 'open');
  // One that nobody knows the length of may be the longest.
  if (open.some(({ lane }) => lane === 'backfill') && shares.every(({ lane }) => lane === 'live')) {
    return null;
  }
  return shares.sort((a, b) => b.total - a.total)[0] ?? null;
}

function shareOfLane(
  lane: LaneCounts,
  { start, reckoned }: Known,
): (FeedShare & Pick<LaneCounts, 'lane'>) | null {
  const told = reckoned.get(laneKey(lane));
  if (told === undefined) return null;
  const { left, pages: by } = told;
  if (left.unit === 'batches') {
    const { done, total } = left;
    return { lane: lane.lane, done, total, isReckoned: false, isCounted: true };
  }
  const before = start.get(laneKey(lane));
  const earlier = before?.counts.run_id === lane.run_id ? before.runPages : 0;
  const done = earlier + lane.pages - (before?.counts.pages ?? 0);
  // While it reads, one page at least is to come.
  const least = lane.run_state === 'open' ? 1 : 0;
  const total = done + Math.max(least, left.left - (lane.pages - by));
  return { lane: lane.lane, done, total, isReckoned: true, isCounted: false };
}

function lineOf(one: Followed, lanes: readonly LaneCounts[], known: Known): TrackedLine {
  const { feed, chain, list } = one.feed;
  const share = shareOf(lanes, known);
  const stand = standOf(lanes);
  return {
    feed,
    chain: printable(chain),
    list,
    share,
    ...amounts(lanes, known),
    stand,
    note: noteOf(one, { lanes, share, stand, at: known.at }),
  };
}

function standOf(lanes: readonly LaneCounts[]): FeedStand {
  if (!isOver(lanes)) return 'reading';
  const unfinished = lanes.filter(({ run_state }) => run_state !== 'finished');
  if (unfinished.length === 0) return 'done';
  if (unfinished.every(isPaused)) return 'paused';
  const isNone = unfinished.every(
    (lane) => isPaused(lane) || (lane.failure !== null && failures[lane.failure].exit === 0),
  );
  return isNone ? 'unserved' : 'failed';
}

/** Somebody set it aside, and nothing went wrong. */
const isPaused = ({ run_state, failure, reason }: LaneCounts) =>
  run_state === 'superseded' ||
  (run_state === 'interrupted' && failure === null && reason === null);

function noteOf(
  one: Followed,
  {
    lanes,
    share,
    stand,
    at,
  }: {
    readonly lanes: readonly LaneCounts[];
    readonly share: FeedShare | null;
    readonly stand: FeedStand;
    readonly at: number;
  },
): string {
  if (stand === 'done') return duration(seconds((one.endedAt ?? at) - (one.beganAt ?? at)));
  if (stand === 'paused') return isReplaced(lanes) ? 'replaced' : 'paused';
  if (stand !== 'reading')
    return lanes.find(({ failure }) => failure !== null)?.failure ?? 'failed';
  if (at - one.movedAt >= quietMs) return `no page for ${duration(seconds(at - one.movedAt))}`;
  return paceOf(one.samples, share);
}

const isReplaced = (lanes: readonly LaneCounts[]) =>
  lanes.some(({ run_state }) => run_state === 'superseded');

/** To a tenth below ten, else whole: what is drawn changes no more often than it tells. */
const seconds = (ms: number) => (ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1_000));

/** When it ends at the pace of the last while; the pace itself where nobody knows how much is left. */
function paceOf(samples: readonly Sample[], share: FeedShare | null): string {
  const last = samples.at(-1);
  // Before it was known what is done, nothing was seen to move.
  const first = share?.isCounted === true ? samples.find(({ done }) => done !== null) : samples[0];
  if (first === undefined || last === undefined || last.at - first.at < leastPaceMs) return '';
  const passed = (last.at - first.at) / 1_000;
  const moved =
    share?.isCounted === true ? moveOf(first.done, last.done) : last.pages - first.pages;
  if (share !== null && moved > 0) {
    const left = Math.ceil(((share.total - share.done) * passed) / moved);
    return `${share.isReckoned ? '~' : ''}${duration(left)} left`;
  }
  const rate = (last.rows - first.rows) / passed;
  return rate > 0 ? `${whole(rate)} rows/s` : '';
}

const moveOf = (from: number | null, to: number | null) => (to ?? 0) - (from ?? 0);
