import type { Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import type { SyncTarget } from '../jobs/sync.ts';
import { feedName } from '../lists/feed.ts';
import { operations } from '../operations/index.ts';
import { feedLines } from '../terminal/feed-lines.ts';
import type { Context, GlobalOptions } from './context.ts';
import type { TrackedLine, WatchedFeed } from './feed-track.ts';
import { plainProgress } from './plain-progress.ts';
import type { Screen } from './screen.ts';
import { watchFeeds, type WatchOptions } from './watch-feeds.ts';

export interface Progress {
  /** Says that a page was committed in this process. */
  nudge(): void;
  /** Writes the last state and lets go of the terminal. */
  end(): Promise<void>;
}

const noProgress: Progress = { nudge: () => undefined, end: async () => undefined };

/** The feeds of some targets, with the names that their chains are configured under. */
export function watchedFeeds(
  { chains }: Pick<Settings, 'chains'>,
  targets: readonly SyncTarget[],
): WatchedFeed[] {
  const byFeed = Map.groupBy(targets, ({ lane }) => feedName(lane));
  return [...byFeed].flatMap(([feed, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    const { chain_id, operation } = first.lane;
    const chain = chains.find(({ id }) => id === chain_id)?.name ?? String(chain_id);
    const { list } = operations[operation].guide;
    return [{ feed, chain, list, lanes: own.map(({ lane }) => lane) }];
  });
}

/**
 * Shows how feeds come on, from now on: a line for each, redrawn on a terminal; elsewhere a line where one begins,
 * where it ends, and now and then between.
 */
export async function showProgress(
  context: Context,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  watched: WatchOptions & { readonly db: Database; readonly feeds: readonly WatchedFeed[] },
): Promise<Progress> {
  if (quiet || watched.feeds.length === 0) return noProgress;
  const plain = screen.look.isTerminal ? null : plainProgress((text) => screen.write(text));
  const draw = (lines: readonly TrackedLine[]) => {
    const told = context.signal.aborted ? lines.map(pausedWhereOpen) : lines;
    if (plain === null) screen.lines(feedLines(screen.look, told));
    else plain(told, performance.now());
  };
  const watch = await watchFeeds(watched.db, watched.feeds, watched, draw);
  return {
    nudge: () => watch.nudge(),
    async end() {
      draw(await watch.end());
      screen.done();
    },
  };
}

/** After a signal nobody reads any more, and what is open waits for the next command. */
const pausedWhereOpen = (line: TrackedLine): TrackedLine =>
  line.stand === 'reading' ? { ...line, stand: 'paused', note: 'paused' } : line;
