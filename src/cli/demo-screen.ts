import type { DemoDocument } from '../documents/demo.ts';
import type { OpenDatabase } from '../open-database.ts';
import { whole } from '../terminal/numbers.ts';
import type { Context, GlobalOptions } from './context.ts';
import { demoFeeds, demoHead } from './demo-text.ts';
import type { TrackedLine, WatchedFeed } from './feed-track.ts';
import { openScreen } from './screen.ts';
import { watchFeeds, type FeedWatch } from './watch-feeds.ts';

/** What is shown while a demo runs. */
export interface DemoScreen {
  /** Says from now on where the page is. */
  page(url: string): void;
  /** Shows from now on how these feeds come on. */
  watch(database: OpenDatabase, feeds: readonly WatchedFeed[], pageSize: number): Promise<void>;
  /** Says that pages may have been committed. */
  nudge(): void;
  /** The worker was killed after so many pages of the walk that is watched. */
  killed(pid: number, page: number): void;
  /** Takes away what was drawn, for what is left in its place. */
  end(): Promise<void>;
}

/** Draws how a demo goes on, on a terminal; elsewhere it only tells of the kill: the end tells the rest. */
export function openDemoScreen(
  context: Context,
  { quiet, json }: Pick<GlobalOptions, 'quiet' | 'json'>,
  head: Pick<DemoDocument, 'chains' | 'database'>,
): DemoScreen {
  const isSilent = quiet || json;
  const screen = openScreen(context);
  let lines: readonly TrackedLine[] = [];
  let pageLine: string[] = [];
  let news = head.database === 'embedded' ? 'Postgres starts …' : '';
  let watching: FeedWatch | null = null;
  const draw = () => {
    const { look } = screen;
    if (isSilent || !look.isTerminal) return;
    const told = news === '' ? [] : [news];
    screen.lines([demoHead(look, head), ...demoFeeds(look, lines), ...told, ...pageLine]);
  };
  draw();
  return {
    page(url) {
      pageLine = [`Meanwhile on a page: ${url}`];
      draw();
    },
    async watch({ db }, feeds, pageSize) {
      if (isSilent || !screen.look.isTerminal) return;
      news = '';
      watching = await watchFeeds(db, feeds, { pageSize, mostPages: null }, (seen) => {
        lines = seen;
        draw();
      });
    },
    nudge: () => watching?.nudge(),
    killed(pid, page) {
      const from = page === 0 ? 'before its first page' : `at page ${whole(page)}`;
      news = `SIGKILL to process ${pid} ${from}; another worker goes on …`;
      if (!isSilent && !screen.look.isTerminal) screen.write(`${news}\n`);
      draw();
    },
    async end() {
      await watching?.end();
      watching = null;
      screen.clear();
    },
  };
}
