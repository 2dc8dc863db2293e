import { once, EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/transaction.ts';
import { laneCounts, pagesOfRuns, runsLeft } from '../report/progress.ts';
import { trackFeeds, type FeedTrack, type TrackedLine, type WatchedFeed } from './feed-track.ts';

/** A look, with what it draws, comes after so many times as long as one takes: half a percent of a core. */
const restPerLook = 400;
/** The same for what is left, which reads more. */
const restPerReckoning = 500;
/** Of so many the fastest tells what one costs; the others waited for their turn. */
const lastCosts = 16;
/** The first looks cost what is done once: code is compiled, a connection opened. They tell nothing. */
const firstLooks = 5;
/** The least and the most between two looks, in ms. */
const leastRestMs = 500;
const mostRestMs = 10_000;
/** Where nothing was committed here, others may have done something, in ms. */
const idleMs = 2_000;
/** What is left is reckoned no more often than that, in ms. */
const leastReckoningMs = 1_000;

/** Looks at feeds while a command works on them. */
export interface FeedWatch {
  /** Says that a page was committed in this process: there is something new to see. */
  nudge(): void;
  /** Looks a last time. */
  end(): Promise<readonly TrackedLine[]>;
}

export interface WatchOptions {
  readonly pageSize: number;
  /** Pages of each feed that are wanted at most; null: all that there are. */
  readonly mostPages: number | null;
}

/**
 * Watches feeds from now on. It reads the database, so it sees what other workers do for the same feeds too; this
 * process's commits say when to look. How much looking takes decides how often it is done.
 */
export async function watchFeeds(
  db: Database,
  feeds: readonly WatchedFeed[],
  { pageSize, mostPages }: WatchOptions,
  onLook: (lines: readonly TrackedLine[]) => void,
): Promise<FeedWatch> {
  const names = feeds.map(({ feed }) => feed);
  const starts = await laneCounts(db, names);
  const runPages = await pagesOfRuns(
    db,
    starts.map(({ run_id }) => run_id),
  );
  const track = trackFeeds(feeds, starts, { runPages, mostPages });
  const ending = new AbortController();
  const news = new EventEmitter();
  const looking = costMeter(firstLooks);
  const reckoning = costMeter(1);
  let reckonedAt = -Infinity;
  const look = async () => {
    track.see(await laneCounts(db, names), performance.now());
    onLook(track.lines(performance.now()));
  };
  const reckon = async () => {
    const begun = performance.now();
    const restMs = Math.max(leastReckoningMs, restPerReckoning * reckoning.ms());
    if (mostPages !== null || begun - reckonedAt < restMs) return;
    reckonedAt = begun;
    track.reckon(await reckoning.time(() => runsLeft(db, track.open, { pageSize })));
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const { signal } = ending;
      const restMs = Math.min(mostRestMs, Math.max(leastRestMs, restPerLook * looking.ms()));
      // Whoever lost the race stops to listen.
      const round = new AbortController();
      const until = { signal: AbortSignal.any([signal, round.signal]) };
      const isNews = once(news, 'page', until).catch(() => undefined);
      await delay(restMs, undefined, { signal }).catch(() => undefined);
      await Promise.race([isNews, delay(idleMs, undefined, until).catch(() => undefined)]);
      round.abort();
      if (signal.aborted) return;
      // What cannot be read here, the work itself will report.
      await looking
        .time(look)
        .then(reckon)
        .catch(() => undefined);
    }
  })();
  return {
    nudge: () => void news.emit('page'),
    async end() {
      ending.abort();
      await watching;
      return lastLines(db, track, names);
    },
  };
}

async function lastLines(
  db: Database,
  track: FeedTrack,
  names: readonly string[],
): Promise<readonly TrackedLine[]> {
  const counts = await laneCounts(db, names).catch(() => null);
  const at = performance.now();
  if (counts !== null) track.see(counts, at);
  return track.lines(at);
}

/** Tells what something costs that takes longer where it has to wait. */
function costMeter(least: number) {
  let took: readonly number[] = [];
  return {
    ms: () => (took.length < least ? 0 : Math.min(...took)),
    async time<T>(work: () => Promise<T>): Promise<T> {
      const begun = performance.now();
      const done = await work();
      took = [...took, performance.now() - begun].slice(-lastCosts);
      return done;
    },
  };
}
