import { setTimeout as delay } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import type { DemoDocument } from '../documents/demo.ts';
import { feedName } from '../lists/feed.ts';
import type { OpenDatabase } from '../open-database.ts';
import type { SyncTarget } from '../jobs/sync.ts';
import { laneCounts, runsLeft } from '../report/progress.ts';
import type { FeedLine, FeedShare } from '../terminal/feed-lines.ts';
import { whole } from '../terminal/numbers.ts';
import type { Context, GlobalOptions } from './context.ts';
import { demoFeeds, demoHead } from './demo-text.ts';

/** How often lines are redrawn on a terminal, in ms. */
const redrawMs = 250;

/** What is shown while a demo runs. */
export interface DemoScreen {
  /** The worker was killed after so many pages of the walk that is watched. */
  killed(pid: number, page: number): void;
  /** Clears what was drawn for what is left in its place. */
  end(): Promise<void>;
}

interface Shown {
  readonly database: OpenDatabase;
  readonly targets: readonly SyncTarget[];
  readonly head: Pick<DemoDocument, 'chains' | 'database'>;
  readonly pageSize: number;
}

/** Draws how the copy stands, on a terminal only: elsewhere the end tells all. */
export function openDemoScreen(
  { err, stderr }: Context,
  { quiet, json }: GlobalOptions,
  shown: Shown,
): DemoScreen {
  const isDrawn = err.isTerminal && !quiet && !json;
  let told = '';
  if (!isDrawn) {
    const say = (pid: number, page: number) =>
      quiet || json ? undefined : stderr(`${killNews(pid, page)}\n`);
    return { killed: say, end: async () => undefined };
  }
  const update = createLogUpdate(process.stderr, { showCursor: true });
  const ending = new AbortController();
  const drawing = (async () => {
    while (!ending.signal.aborted) {
      // What cannot be read for the lines, the work itself reports.
      const lines = await readLines(shown).catch(() => []);
      if (ending.signal.aborted) return;
      update([demoHead(err, shown.head), ...demoFeeds(err, lines), told].join('\n').trimEnd());
      await delay(redrawMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    killed(pid, page) {
      told = killNews(pid, page);
    },
    async end() {
      ending.abort();
      await drawing;
      update.clear();
      update.done();
    },
  };
}

const killNews = (pid: number, page: number) =>
  `The worker, process ${pid}, was killed at page ${whole(page)}; another one goes on.`;

/** How each feed stands now. */
async function readLines({ database, targets, head, pageSize }: Shown): Promise<FeedLine[]> {
  const lanes = targets.map(({ lane }) => lane);
  const feeds = [...new Set(lanes.map(feedName))];
  const counts = await laneCounts(database.db, feeds);
  const left = await runsLeft(database.db, lanes, { pageSize });
  return feeds.map((feed): FeedLine => {
    const own = counts.filter((lane) => lane.feed === feed);
    const sum = (of: 'rows' | 'pages' | 'credits') =>
      own.reduce((total, lane) => total + lane[of], 0);
    const lane = lanes.find((one) => feedName(one) === feed);
    const isOpen = own.some(({ run_state }) => run_state === 'open');
    const rest = [...left].find(([one]) => feedName(one) === feed)?.[1];
    const pages = sum('pages');
    const share: FeedShare | null =
      rest === undefined
        ? null
        : rest.unit === 'pages'
          ? { done: pages, total: pages + rest.left, isReckoned: true, isCounted: false }
          : { ...rest, isReckoned: false, isCounted: true };
    return {
      chain: head.chains.find(({ chain_id }) => chain_id === lane?.chain_id)?.name ?? '',
      list: lane?.operation ?? feed,
      share,
      rows: sum('rows'),
      pages,
      credits: sum('credits'),
      stand: isOpen || own.length === 0 ? 'reading' : 'done',
      note: '',
    };
  });
}
