import type { Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { operations } from '../operations/index.ts';
import type { SyncTarget } from '../sync/once.ts';
import { feedLines, type FeedStand, shareText } from '../terminal/feed-lines.ts';
import { counted } from '../terminal/numbers.ts';
import type { Context, GlobalOptions } from './context.ts';
import type { TrackedLine, WatchedFeed } from './feed-track.ts';
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

/** How seldom a feed that reads says so, in ms: a long run should not fill a log. */
const plainMs = 30_000;

/** What a feed that ended is called. */
const ends: Readonly<Record<Exclude<FeedStand, 'reading'>, string>> = {
  done: 'done',
  paused: 'paused',
  failed: 'failed',
  unserved: 'not served',
};

/**
 * Progress where nothing can be redrawn: a line where a feed begins, one where it ends, and one each half minute.
 *
 * @returns takes the lines of a look, and the time in ms
 */
export function plainProgress(
  write: (text: string) => void,
): (lines: readonly TrackedLine[], at: number) => void {
  const told = new Map<string, { readonly stand: FeedStand; readonly at: number }>();
  return (lines, at) => {
    for (const line of lines) {
      const before = told.get(line.feed);
      const isChanged = before === undefined || before.stand !== line.stand;
      if (!isChanged && (line.stand !== 'reading' || at - before.at < plainMs)) continue;
      told.set(line.feed, { stand: line.stand, at });
      if (before === undefined && line.stand === 'reading') write(`${line.feed}: begun\n`);
      else write(`${line.feed}: ${said(line)}\n`);
    }
  };
}

function said(line: TrackedLine): string {
  const { share, rows, pages, credits, stand, note } = line;
  const counts = [counted(rows, 'row'), counted(pages, 'page'), counted(credits, 'credit')];
  if (stand === 'reading') {
    const part = share === null || share.total === 0 ? [] : [shareText(share)];
    return [...part, ...counts, ...(note === '' ? [] : [note])].join(', ');
  }
  const how = stand === 'failed' ? [`${ends.failed} (${note})`] : [ends[stand]];
  return [...how, ...counts, ...(stand === 'done' ? [note] : [])].join(', ');
}
