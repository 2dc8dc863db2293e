import { setTimeout as delay } from 'node:timers/promises';
import { createLogUpdate } from 'log-update';
import type { Database } from '../db/transaction.ts';
import type { FeedStatus } from '../report/status.ts';
import { feedsNow, type FeedNow } from '../report/lane-state.ts';
import type { Context, GlobalOptions } from './context.ts';

/** How often lines are redrawn on a terminal, in ms. */
const redrawMs = 500;
/** When plain lines are written first, in ms; a short run shows that it moves. */
const firstPlainMs = 1_000;
/** How seldom they become, in ms; a long run should not fill a log. */
const lastPlainMs = 30_000;
const plainGrowth = 1.5;

export interface Progress {
  /** Writes the last state and lets go of the terminal. */
  end(): Promise<void>;
}

/**
 * A line for each feed, redrawn on a terminal, written now and then otherwise. It reads the
 * database, not this process, so it shows what other workers do for the same feeds too.
 */
export function showProgress(
  context: Context,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  db: Database,
  feeds: readonly string[],
): Progress {
  if (quiet) return { end: async () => undefined };
  const ending = new AbortController();
  const meter = rateMeter();
  const hasBegun = beginnings();
  const poll = async () => {
    const wanted = new Set(feeds);
    const seen = (await feedsNow(db)).filter(({ feed }) => wanted.has(feed));
    // What an earlier run left as its last word is no progress of this one.
    const begun = seen.filter((status) => hasBegun(status));
    screen.lines(begun.map((status) => line(status, meter(status))));
  };
  const drawing = (async () => {
    for (let plainMs = firstPlainMs; ; plainMs = Math.min(lastPlainMs, plainMs * plainGrowth)) {
      // What the progress lines cannot read, the work itself will report.
      await poll().catch(() => undefined);
      if (ending.signal.aborted) return;
      const pause = context.err.isTerminal ? redrawMs : plainMs;
      await delay(pause, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    async end() {
      ending.abort();
      await drawing;
      screen.done();
    },
  };
}

/** Where progress and log lines meet: neither writes over the other. */
export interface Screen {
  /** Writes for good, above the lines that are redrawn. */
  write(text: string): void;
  lines(lines: readonly string[]): void;
  done(): void;
}

export function openScreen(context: Context): Screen {
  return context.err.isTerminal ? terminalLines(context) : plainLines(context);
}

function terminalLines(context: Context): Screen {
  const update = createLogUpdate(process.stderr, { showCursor: true });
  let shown = '';
  return {
    write(text) {
      update.clear();
      context.stderr(text);
      if (shown !== '') update(shown);
    },
    lines(lines) {
      shown = lines.join('\n');
      update(shown);
    },
    done() {
      update.done();
      shown = '';
    },
  };
}

/** Only lines that changed: a feed at rest says nothing again. */
function plainLines(context: Context): Screen {
  let before: ReadonlySet<string> = new Set();
  return {
    write: context.stderr,
    lines(lines) {
      for (const text of lines) if (!before.has(text)) context.stderr(`${text}\n`);
      before = new Set(lines);
    },
    done: () => undefined,
  };
}

/** Tells whether a feed has an open run, or had one since it was looked at first. */
function beginnings(): (status: FeedNow) => boolean {
  const first = new Map<string, string>();
  return ({ feed, lanes }) => {
    const now = JSON.stringify(lanes.map(({ run_id, run_state }) => [run_id, run_state]));
    const before = first.get(feed) ?? now;
    first.set(feed, before);
    return now !== before || lanes.some(({ run_state }) => run_state === 'open');
  };
}

/** Rows per second since the feed was first seen by this process. */
function rateMeter(): (status: FeedStatus) => number {
  const first = new Map<string, { rows: number; at: number }>();
  return ({ feed, rows }) => {
    const now = performance.now();
    const start = first.get(feed) ?? { rows, at: now };
    first.set(feed, start);
    return now === start.at ? 0 : ((rows - start.rows) * 1000) / (now - start.at);
  };
}

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function line(status: FeedStatus, rate: number): string {
  const parts = [
    status.feed.padEnd(28),
    status.state.padEnd(10),
    `${number.format(status.pages).padStart(7)} pages`,
    `${number.format(status.rows).padStart(10)} rows`,
    `${number.format(rate).padStart(6)} rows/s`,
    known(status),
  ];
  return parts.join('  ').trimEnd();
}

/** What is known of the end. */
function known({ batches, reached }: FeedStatus): string {
  if (batches !== null) return `${batches.done} of ${batches.total} batches`;
  if (reached?.bottom === null || reached?.bottom === undefined) return '';
  return `down to ${reached.unit === 'batches' ? 'batch' : 'block'} ${reached.bottom}`;
}
