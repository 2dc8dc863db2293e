import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Settings } from '../config/settings.ts';
import { printable } from '../printable.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import { bar } from '../terminal/bar.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { counted, duration, percent, whole } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { fit, widthOf, wrap } from '../terminal/width.ts';
import type { CommandLine } from './command-line.ts';
import type { Context, GlobalOptions } from './context.ts';
import { isKillClean, killSchema, type Kill } from './demo-run.ts';
import { openScreen } from './screen.ts';

const count = z.int().min(0);

/** `demo --json`. */
export const demoDocument = z.strictObject({
  schema: z.literal('explorer-etl/demo/2'),
  /** `named`: the database of DATABASE_URL. */
  database: z.enum(['embedded', 'named']),
  /** What is stored of each feed, with what earlier demos stored. */
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      chain_id: z.int(),
      chain_name: z.string(),
      operation: z.string(),
      label: z.string(),
      rows: count,
      pages: count,
      is_verified: z.boolean(),
    }),
  ),
  /** Null: the demo was interrupted. */
  kill: killSchema.nullable(),
  /** Of this demo, without earlier ones and without the start of Postgres. */
  totals: z.strictObject({ rows: count, requests: count, seconds: z.number() }),
  /** Of today (UTC), by this database; the limit is what a free plan has for a day. */
  credits: z.strictObject({ spent: count, limit: count.nullable() }),
});
export type DemoResult = Omit<z.infer<typeof demoDocument>, 'schema'>;

/** All of it is read, and verified. While a walk is under way, what it has read so far may be. */
export const isComplete = ({ verified, lanes }: FeedStatus): boolean =>
  verified.share === 1 && lanes.every(({ run_state: state }) => state === 'finished');

/** How far texts are indented below their heading. */
const indent = '  ';
/** Between two looks at the status; in ms. It costs a quarter of a core at most. */
const leastRestMs = 500;
const restPerLook = 3;

/** What is shown while a demo runs. */
export interface DemoScreen {
  /** Shows from now on where the page is. */
  update(shown: { readonly url: string }): void;
  /** Shows the feeds from now on. @returns ends that */
  watch(read: () => Promise<StatusDocument>): () => Promise<void>;
  /** The worker was killed after so many pages of the watched walk. */
  killed(pid: number, page: number): void;
  /** Takes away what was drawn, for what is printed in its place. */
  end(): void;
}

/** Draws how a demo gets on, on a terminal; elsewhere it only reports the kill: the end has the rest. */
export function openDemoScreen(
  context: Context,
  { quiet, json }: Pick<GlobalOptions, 'quiet' | 'json'>,
  { chains, databaseUrl }: Pick<Settings, 'chains' | 'databaseUrl'>,
): DemoScreen {
  const screen = openScreen(context);
  const isDrawn = !quiet && !json && screen.look.isTerminal;
  const head = (look: Look) => headLine(look, chains.length, databaseUrl === null);
  let feeds: readonly FeedStatus[] = [];
  let step = databaseUrl === null ? 'Starting Postgres …' : 'Connecting …';
  let page: string[] = [];
  const draw = () => {
    if (!isDrawn) return;
    const { look } = screen;
    const lines = feedLines(look, feeds.map(liveLine(look)));
    screen.lines([head(look), ...lines, ...(step === '' ? [] : [indent + step]), ...page]);
  };
  draw();
  return {
    update({ url }) {
      page = [`${indent}The page: ${url}`];
      draw();
    },
    watch(read) {
      step = '';
      const ending = new AbortController();
      const { signal } = ending;
      const watching = (async () => {
        if (!isDrawn) return;
        while (!signal.aborted) {
          const begun = performance.now();
          // What cannot be read here, the work itself reports.
          feeds = (await read().catch(() => null))?.feeds ?? feeds;
          if (!signal.aborted) draw();
          const restMs = Math.max(leastRestMs, restPerLook * (performance.now() - begun));
          await delay(restMs, undefined, { signal }).catch(() => undefined);
        }
      })();
      return async () => {
        ending.abort();
        await watching;
      };
    },
    killed(pid, pages) {
      step = `SIGKILL to worker ${pid} at page ${whole(pages)}; another worker resumes …`;
      if (!quiet && !json && !isDrawn) screen.write(`${step}\n`);
      draw();
    },
    end: () => screen.clear(),
  };
}

function headLine(look: Look, chains: number, isEmbedded: boolean): string {
  const to = isEmbedded ? 'embedded Postgres' : 'your Postgres';
  const text = ` · ${counted(chains, 'simulated chain')} → ${to} · no key, no network`;
  return fitted(look, paint(look, 'strong', 'explorer-etl demo') + text);
}

/** A feed in a line. */
interface Line extends Pick<FeedStatus, 'chain_name' | 'label' | 'rows' | 'pages'> {
  /** From 0 to 1; null: the whole's length is unknown. */
  readonly share: number | null;
  readonly note: string;
}

/** How much of a feed is read, by the requests that are left. */
const liveLine =
  (look: Look) =>
  (feed: FeedStatus): Line => {
    if (isComplete(feed)) return { ...feed, share: 1, note: verifiedNote(look, true) };
    const { likely, most } = feed.left.requests;
    const left = likely ?? most;
    const isReading = feed.pages > 0 && left !== null && left > 0;
    const share = isReading ? feed.pages / (feed.pages + left) : null;
    return { ...feed, share, note: share === null ? 'reading' : percent(share) };
  };

const verifiedNote = (look: Look, isVerified: boolean): string =>
  isVerified ? paint(look, 'good', '✓ verified') : paint(look, 'bad', '✗ not verified');

/** Columns of a bar: at most, and of all that is beside it. */
const widestBar = 14;
const besideBar = 66;

/** A line for each feed. Widths do not depend on the numbers, so that nothing moves while they grow. */
function feedLines(look: Look, lines: readonly Line[]): string[] {
  const barWidth = Math.min(widestBar, look.columns - besideBar);
  const rows = lines.map(({ chain_name: chain, label, share, rows: stored, pages, note }, at) => [
    lines[at - 1]?.chain_name === chain ? '' : printable(chain),
    label,
    ...(barWidth < 1 ? [] : [bar(look, share, barWidth)]),
    `${whole(stored).padStart('10,000'.length)} rows`,
    ...(barWidth < 1 ? [] : [counted(pages, 'page').padStart('100 pages'.length)]),
    note,
  ]);
  return columns(look, { rows }).map((line) => fitted(look, indent + line));
}

/** What became of a demo, on one screen. */
export function demoText(result: DemoResult, look: Look, commandLine: CommandLine): string {
  const { database, feeds, kill } = result;
  const chains = new Set(feeds.map(({ chain_id: id }) => id)).size;
  const lines = feeds.map((feed): Line => {
    const isVerified = feed.is_verified;
    return { ...feed, share: isVerified ? 1 : null, note: verifiedNote(look, isVerified) };
  });
  const isOpen = feeds.some(({ is_verified: isVerified }) => !isVerified);
  const text = [
    headLine(look, chains, database === 'embedded'),
    ...feedLines(look, lines),
    ...wrap(totals(result), look.columns - indent.length).map((line) => indent + line),
    ...(kill === null ? [] : killLines(kill, look)),
    '',
    ...nextLines(isOpen, database === 'embedded', look, commandLine),
  ];
  return `${text.join('\n')}\n`;
}

function totals({ totals: { rows, requests, seconds }, credits }: DemoResult): string {
  const budget = credits.limit === null ? '' : ` of a free day's ${whole(credits.limit)}`;
  return [
    `${rows === 0 ? 'no new rows' : counted(rows, 'row')} in ${duration(seconds)}`,
    counted(requests, 'request'),
    `${whole(credits.spent)}${budget} credits`,
  ].join(' · ');
}

function killLines(kill: Kill, look: Look): string[] {
  const isClean = isKillClean(kill);
  const sign = isClean ? paint(look, 'good', '✓ ') : paint(look, 'bad', '✗ ');
  const verdict = wrap(killText(kill), look.columns - indent.length, indent.length);
  const detail = `SIGKILL to process ${kill.pid}, midway in ${kill.feed ?? 'no feed'}`;
  return [
    ...verdict.map((line, at) => (at === 0 ? sign + paint(look, 'strong', line) : line)),
    ...(kill.is_real ? [paint(look, 'quiet', fitted(look, indent + detail))] : []),
  ];
}

function killText(kill: Kill): string {
  const { killed_at_page: killed, resumed_at_page: resumed, pages_lost: lost } = kill;
  if (!kill.is_real) return 'The worker ended before it could be killed';
  const from = killed === null ? 'with nothing under way' : `at page ${whole(killed)}`;
  const to = resumed === null ? 'never resumed' : `resumed at ${whole(resumed)}`;
  const pages = isKillClean(kill)
    ? 'no page lost, none stored twice'
    : `${counted(lost, 'page')} lost, ${whole(kill.pages_stored_twice)} stored twice`;
  return `Killed ${from}, ${to}: ${pages}`;
}

/** Commands to go on with. No command is cut; what it is for is left out if there is no room. */
function nextLines(
  isOpen: boolean,
  isEmbedded: boolean,
  look: Look,
  commandLine: CommandLine,
): string[] {
  const next = [
    ...(isOpen ? [['explorer-etl verify', 'what is missing']] : []),
    ['explorer-etl open', 'the page'],
    ['explorer-etl query top-senders', 'a query; query --list has all'],
    ['explorer-etl init', 'your chains, with your key'],
    ...(isEmbedded ? [['explorer-etl demo --stop', 'stops Postgres']] : []),
  ].map(([bare = '', what = '']) => [commandLine(bare), what] as const);
  const heading = 'Next   ';
  const width = Math.max(...next.map(([command]) => widthOf(command)));
  return next.map(([command, what], at) => {
    const begin = at === 0 ? paint(look, 'strong', heading) : ' '.repeat(heading.length);
    const isFit = !look.isTerminal || heading.length + width + 3 + widthOf(what) <= look.columns;
    const end = isFit ? `${' '.repeat(width - widthOf(command))}   ${what}` : '';
    return begin + paint(look, 'command', command) + end;
  });
}

const fitted = (look: Look, text: string): string =>
  look.isTerminal ? fit(text, look.columns) : text;
