import { z } from 'zod';
import { readWork } from '../db/state.ts';
import type { Database } from '../db/transaction.ts';
import { failures } from '../failure.ts';
import { type RunsDocument, runsDocument } from '../status/endpoints.ts';
import { readRuns } from '../status/ledger.ts';
import { printable } from '../printable.ts';
import { runReason, stateName } from '../status/lanes.ts';
import { statusDocument, type FeedStatus, type StatusDocument } from '../status/schema.ts';
import { isKnown, statusNow, statusOrOutage } from '../status/status.ts';
import type { Look, Style, Table } from '../terminal/layout.ts';
import { bar, mark, paint, prose, tableLines, widthOf } from '../terminal/layout.ts';
import { brief, compact, counted, whole } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { type CommandLine, exits, UsageError, type Context, type Registry } from './context.ts';
import { openFor, readSettings } from './database.ts';
import { openScreen, watchStatus } from './screen.ts';

interface StatusOptions {
  readonly watch?: true;
  readonly runs?: true;
  readonly all?: true;
}

/** `status`: the overall state, and each feed's state, freshness, completeness and work left. */
export function register({ command, run, explain }: Registry): void {
  command
    .option('--watch', 'redraw it until Ctrl-C')
    .option('--runs', 'runs, stops and failures of the last 24 hours')
    .option('--all', 'feeds that no deployment wants, too')
    .action(run(status));
  explain(['explorer-etl status', 'explorer-etl status --watch']);
}

async function status(context: Context, options: StatusOptions) {
  if (options.watch && options.runs) throw new UsageError('--watch and --runs exclude each other.');
  if (options.watch && (context.json || !context.err.isTerminal)) {
    throw new UsageError('--watch needs a terminal to draw on, and no --json: leave it out.');
  }
  const settings = readSettings(context, {}, 'database');
  const { pageSize } = settings.explorer;
  const textOf = (document: StatusDocument, look: Look) =>
    statusText(document, look, context.commandLine);
  await using database = await openFor(settings, context, 'reads');
  const { pool } = database;
  if (options.runs) {
    const now = new Date().toISOString();
    const read = (db: Database) => readRuns(db, { hours, feed: null });
    const found = await readWork(pool, read, { from: now, to: now, runs: [], events: [] });
    return context.print(runsOutput, found, runsText(found, context.out));
  }
  if (options.watch) {
    const screen = await openScreen({ ...context, quiet: false });
    const read = () => statusOrOutage(async () => pool, pageSize);
    const end = watchStatus(screen, read, (...drawn) =>
      textOf(...drawn)
        .trimEnd()
        .split('\n'),
    );
    await context.untilStopped();
    await end();
    return exits.done;
  }
  const document = await statusNow(pool, pageSize, options.all && 'all');
  return context.print(statusDocument, document, textOf(document, context.out));
}

/** Of overall states, and of feeds. */
const styles: Readonly<
  Record<StatusDocument['overall']['state'] | ReturnType<typeof stateName>, Style>
> = {
  healthy: 'good',
  syncing: 'good',
  degraded: 'warning',
  stopped: 'warning',
  'action-required': 'bad',
  pending: 'quiet',
  running: 'good',
  current: 'good',
  behind: 'warning',
  failing: 'warning',
  blocked: 'warning',
  paused: 'warning',
  unsupported: 'bad',
  'at rest': 'quiet',
};

/** Lines of the smallest screen, minus a blank one, the prompt, and a count of omitted lines. */
const screenLines = 21;
/** Minimum lines for reasons on a terminal, with any number of feeds. */
const leastLines = 5;

/** One screen: the overall state, totals, a row for each feed, and advice. Pure. */
export function statusText(
  document: StatusDocument,
  look: Look,
  commandLine: CommandLine = (command) => command,
): string {
  const { feeds, reasons, overall } = document;
  const lines = headline(document, look);
  if (isKnown(document)) lines.push(...summary(document, look));
  if (feeds.length > 0) lines.push('', ...feedTable(document, look));
  lines.push(...deploymentLines(document, look));
  const named = reasons.filter(({ severity }, at) => at === 0 || severity !== 'info');
  const headlined = /^\d+ of \d+ feeds: /u.test(overall.sentence) ? '' : overall.sentence;
  const details = detailsOf({ ...document, reasons: named }, look, commandLine, headlined);
  const most = look.isTerminal ? Math.max(leastLines, screenLines - lines.length) : Infinity;
  let count = 0;
  const shown = details.filter((one) => (count += one.length) <= most);
  if (shown.length > 0) lines.push('', ...shown.flat());
  const more = details.length - shown.length;
  if (more > 0) lines.push(`  and ${more} more: --json lists all`);
  return `${lines.join('\n')}\n`;
}

type Deployment = StatusDocument['deployments'][number];

/** A deployment with what it wants, and who works for it. */
export const deploymentText = ({ name, feeds, workers }: Deployment): string =>
  `${printable(name)} ${counted(feeds, 'feed')}, ${workers === 0 ? 'no worker' : counted(workers, 'worker')}`;

/** Who wants the feeds, where several do, and what no one wants. */
function deploymentLines({ deployments, at_rest }: StatusDocument, look: Look): string[] {
  const named = deployments.map(deploymentText);
  return [
    ...(named.length < 2 ? [] : [`Deployments: ${named.join('; ')}.`]),
    ...(at_rest.length === 0
      ? []
      : [`At rest, wanted by no deployment: ${at_rest.join(', ')}; --all shows them.`]),
  ].flatMap((line) => prose(look, line, 2));
}

function headline({ overall, as_of }: StatusDocument, look: Look): string[] {
  const { state, since, sentence } = overall;
  const isDated = since === null || sentence.includes(' since ');
  const dated = isDated ? sentence : `${sentence} Since ${clock(since, new Date(as_of))}.`;
  const name = paint(look, styles[state], state.replace('-', ' '));
  return prose(look, `${mark(look, styles[state])} ${name}: ${dated}`);
}

/** Stored data; then workers, credits of today, and the next poll. */
function summary(document: StatusDocument, look: Look): string[] {
  const { totals, workers, credits, next_poll_at, as_of, feeds } = document;
  const at = new Date(as_of);
  const today = totals.rows_today > 0 ? ` (${whole(totals.rows_today)} today)` : '';
  const newest = totals.newest_item_at;
  const data = [
    `${counted(totals.rows, 'row')}${today}`,
    ...(newest === null ? [] : [`newest item ${ageText(newest, at)} old`]),
    ...(totals.verified_share === null ? [] : [`${percents(totals.verified_share)} verified`]),
  ];
  const work = [
    workersText(workers),
    ...creditsText(credits, at),
    ...(next_poll_at === null ? [] : [`next poll ${clock(next_poll_at, at)}`]),
  ];
  return [...(feeds.length === 0 ? [] : [data]), work].flatMap((parts) =>
    prose(look, parts.join(' · '), 2),
  );
}

function workersText(workers: StatusDocument['workers']): string {
  const { start, once: syncs } = workers ?? { start: 0, once: 0 };
  const parts = [
    ...(start === 0 ? [] : [counted(start, 'worker')]),
    ...(syncs === 0 ? [] : [counted(syncs, 'sync')]),
  ];
  return parts.length === 0 ? 'no worker' : parts.join(', ');
}

function creditsText({ spent, limit, left, forecast, keys }: StatusDocument['credits'], at: Date) {
  if (keys.length === 0) return [];
  const used =
    limit === null ? `${whole(spent)} credits today` : `${whole(spent)} of ${whole(limit)} credits`;
  const isReported = left !== null && left !== (limit ?? Infinity) - spent;
  const sum = isReported ? `${used}, ${whole(left)} left` : used;
  switch (forecast.kind) {
    case 'no-limit':
    case 'unknown':
      return [sum];
    case 'enough':
      return [`${sum}, enough for today`];
    case 'history-takes-days': {
      const { least, most } = forecast.days;
      const about = least === most ? 'about' : 'up to';
      const days = most > 365 ? 'more than a year' : `${about} ${counted(most, 'more day')}`;
      return [`${sum}, history needs ${days} of credits`];
    }
    case 'lasts-until':
      return [`${sum}, enough until ${clock(forecast.at, at)}`];
    case 'spent':
      return [`${sum}, none left until ${clock(forecast.until, at)}`];
  }
}

interface Column {
  readonly head: string;
  readonly isRight?: true;
  /** Omitted below 76 columns, like the bar. */
  readonly isWide?: true;
  readonly cell: (feed: FeedStatus, look: Look, at: Date, barWidth: number) => string;
}

const narrow = 76;
const tableColumns: readonly Column[] = [
  { head: 'chain', cell: ({ chain_name }) => chain_name },
  { head: 'list', cell: ({ label }) => label },
  { head: 'state', cell: stateCell },
  { head: 'rows', isRight: true, isWide: true, cell: ({ rows }) => compact(rows) },
  { head: 'newest', isRight: true, isWide: true, cell: newestCell },
  { head: 'polled', isRight: true, isWide: true, cell: polledCell },
  { head: 'verified', cell: verifiedCell },
  { head: 'left', isRight: true, cell: leftText },
];

/** A row for each feed. */
export function feedTable(
  { feeds, as_of }: Pick<StatusDocument, 'feeds' | 'as_of'>,
  look: Look,
): string[] {
  const shown = tableColumns.filter(({ isWide }) => isWide !== true || look.columns >= narrow);
  const table = (width: number): Table => ({
    head: shown.map(({ head }) => head),
    rows: feeds.map((feed) => shown.map(({ cell }) => cell(feed, look, new Date(as_of), width))),
    aligns: shown.map(({ isRight }) => (isRight === true ? 'right' : 'left')),
    flexible: [1],
  });
  const uncut = { ...look, isTerminal: false };
  const most = look.isTerminal ? look.columns : Infinity;
  const fits = (width: number) =>
    tableLines(uncut, table(width)).every((row) => widthOf(row) <= most);
  // A bar gives way before a name is cut.
  return tableLines(look, table(look.columns < narrow ? 0 : ([10, 6].find(fits) ?? 3)));
}

/** Red only if action is needed: a key without credits recovers by itself. */
function stateCell(feed: FeedStatus, look: Look): string {
  const name = stateName(feed);
  const waits = feed.failure !== null && failures[feed.failure].nextTry === 'stated';
  const isRefused = name === 'blocked' && !waits;
  return paint(look, isRefused ? 'bad' : styles[name], name);
}

const ageText = (time: string, at: Date) => brief((at.getTime() - Date.parse(time)) / 1000);

function newestCell({ newest_item: item, lag_s }: FeedStatus, look: Look, at: Date): string {
  if (item === null) return lag_s === null ? '' : brief(lag_s);
  return item.is_met ? ageText(item.at, at) : paint(look, 'warning', ageText(item.at, at));
}

function polledCell({ poll: { age_s, is_met } }: FeedStatus, look: Look): string {
  if (age_s === null) return '';
  return is_met === false ? paint(look, 'warning', brief(age_s)) : brief(age_s);
}

/** `~`: estimated from the rows so far; `≥`: the list may be shorter. */
const basisSigns = { known: '', estimated: '~', 'at-least': '≥', unknown: '' } as const;

function verifiedCell({ verified }: FeedStatus, look: Look, _at: Date, barWidth: number): string {
  const { share, basis } = verified;
  const text = share === null ? '' : `${basisSigns[basis]}${percents(share)}`;
  return `${bar(look, share, barWidth)} ${text}`.trim();
}

/** An incomplete part is never shown as 100 %. */
const percents = (part: number) => `${part < 1 ? Math.min(99, Math.floor(part * 100)) : 100} %`;

/** The time left while history is read, otherwise its requests. */
function leftText({ left: { requests, ends_in_s } }: FeedStatus): string {
  const { likely, most } = requests;
  if (ends_in_s !== null) return `${likely === null ? '≤' : '~'}${brief(ends_in_s)}`;
  if (most === null) return 'unknown';
  if (most === 0) return '';
  return likely === null ? `≤${compact(most)} req.` : `~${compact(likely)} req.`;
}

/** Lines of each reason and each note. A sentence that ends the headline is not repeated. */
export const detailsOf = (
  { feeds, reasons, notes }: Pick<StatusDocument, 'feeds' | 'reasons' | 'notes'>,
  look: Look,
  commandLine: CommandLine,
  headlined = '',
): readonly (readonly string[])[] =>
  [...reasons, ...notes.map((note) => ({ ...note, feeds: [], advice: null }))]
    .map(({ feeds: those, sentence, advice, command }) => {
      const isInHeadline = headlined.toLowerCase().endsWith(sentence.toLowerCase());
      const names = those.length === 0 ? '' : `${feedNames(look, those, feeds.length)}: `;
      return [
        ...(isInHeadline ? [] : prose(look, names + sentence, 2)),
        ...(advice === null ? [] : prose(look, advice, 4)),
        ...(command === null ? [] : [`    ${paint(look, 'command', commandLine(command))}`]),
      ];
    })
    .filter((lines) => lines.length > 0);

/** Named on a terminal; the sentence counts the others. */
const mostNamed = 3;

/** Feeds in a sentence, out of `total`. Without a terminal it names all. */
function feedNames({ isTerminal }: Look, feeds: readonly string[], total: number): string {
  const others = feeds.length - mostNamed;
  if (!isTerminal || others <= 1) return feeds.join(', ');
  if (feeds.length === total) return `all ${total} feeds`;
  return `${feeds.slice(0, mostNamed).join(', ')} and ${others} more`;
}

/** `status --runs --json`: runs and events of the last 24 hours, newest first, as the page shows them. */
export const runsOutput = z.strictObject({
  schema: z.literal('explorer-etl/runs/1'),
  ...runsDocument.shape,
});

const hours = 24;

/** Rows that a terminal shows; a pipe and `--json` have all. */
const mostRuns = 30;

const runHead = ['began, UTC', 'feed', 'lane', 'state', 'took', 'pages', 'rows'];

/** Runs and events as one table, the newest first; below a row what it says. */
export function runsText({ to, runs, events }: RunsDocument, look: Look): string {
  const all = [
    ...runs.map(({ opened_at: at, ...run }) => {
      const endMs = Date.parse(run.ended_at ?? to);
      const took = brief((endMs - Date.parse(at)) / 1000);
      const state = paint(look, runStyles[run.state] ?? 'quiet', run.state);
      return {
        at,
        says: runReason(run),
        cells: [run.feed, run.lane, state, took, compact(run.pages), compact(run.rows)],
      };
    }),
    ...events.map(({ at, feed, kind, sentence: says }) => ({
      at,
      says,
      cells: [feed ?? '', '', kind],
    })),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  if (all.length === 0) return `No run in the last ${hours} hours.\n`;
  const shown = look.isTerminal ? all.slice(0, mostRuns) : all;
  const rows = shown.map(({ at, cells }) => [startText(at, to), ...cells]);
  const aligns = runHead.map((_, place) => (place < 4 ? 'left' : 'right'));
  const [top = '', ...lines] = tableLines(look, { head: runHead, rows, aligns, flexible: [1] });
  const detailed = lines.flatMap((line, place) => {
    const says = shown[place]?.says ?? null;
    return says === null ? [line] : [line, ...prose(look, says, 4)];
  });
  const more = all.length - shown.length;
  const rest = more === 0 ? [] : ['', `${counted(more, 'older row')}: --json has all.`];
  return `${[top, ...detailed, ...rest].join('\n')}\n`;
}

const runStyles: Readonly<Record<string, Style>> = {
  finished: 'good',
  failed: 'bad',
  interrupted: 'warning',
};

/** The day too, unless it is that of the newest. */
function startText(time: string, to: string): string {
  const [began = '', now = ''] = [time, to].map((one) => new Date(one).toISOString());
  return began.slice(began.slice(0, 10) === now.slice(0, 10) ? 11 : 5, 16).replace('T', ' ');
}
