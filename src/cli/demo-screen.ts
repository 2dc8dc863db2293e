import type { DemoDocument } from '../documents/demo.ts';
import type { OpenDatabase } from '../open-database.ts';
import { readStatus } from '../status/status.ts';
import type { FeedLine } from '../terminal/feed-lines.ts';
import { whole } from '../terminal/numbers.ts';
import type { Context, GlobalOptions } from './context.ts';
import { demoFeeds, demoHead } from './demo-text.ts';
import { watchFeeds, type Progress, type Track, type WatchedFeed } from './progress.ts';
import { openScreen } from './screen.ts';

/** What is shown while a demo runs. */
export interface DemoScreen {
  /** Says from now on where the page is. */
  page(url: string): void;
  /** Shows from now on how these feeds come on. */
  watch(database: OpenDatabase, feeds: readonly WatchedFeed[], pageSize: number): Promise<void>;
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
  let lines: readonly FeedLine[] = [];
  let pageLine: string[] = [];
  let news = head.database === 'embedded' ? 'Postgres starts …' : '';
  let watching: Progress | null = null;
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
      const read = () => readStatus(db, { pageSize, standby: null });
      watching = await watchFeeds({ feeds, read }, (tracks) => {
        lines = tracks.flatMap(lineOf);
        draw();
      });
    },
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

/** A feed that has begun, as a line of the demo. */
function lineOf({ chain, list, state, share, rows, pages, notes }: Track): FeedLine[] {
  if (state === 'pending') return [];
  const isReading = state === 'reading' || state === 'waiting';
  const done = share === null ? null : Math.floor(100 * share);
  return [
    {
      chain,
      list,
      share: done === null ? null : { done, total: 100, isReckoned: true, isCounted: false },
      rows,
      pages,
      credits: 0,
      stand: isReading ? 'reading' : state === 'unsupported' ? 'unserved' : state,
      note: notes[0] ?? '',
    },
  ];
}
