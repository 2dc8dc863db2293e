import { printable } from '../printable.ts';
import { clock } from '../status/reasons.ts';
import type { FeedStatus, Reason, StatusDocument } from '../status/schema.ts';
import { isKnown } from '../status/status.ts';
import { bar } from '../terminal/bar.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { bytes, compact, counted, duration, whole } from '../terminal/numbers.ts';
import { mark, paint, type Style } from '../terminal/paint.ts';
import { fit, widthOf, wrap } from '../terminal/width.ts';
import type { CommandLine } from './command-line.ts';

const overallStyles: Readonly<Record<StatusDocument['overall']['state'], Style>> = {
  healthy: 'good',
  syncing: 'good',
  degraded: 'warning',
  stopped: 'warning',
  'action-required': 'bad',
};

const feedStyles: Readonly<Record<FeedStatus['state'], Style>> = {
  pending: 'quiet',
  running: 'good',
  current: 'good',
  behind: 'warning',
  failing: 'warning',
  blocked: 'warning',
  paused: 'warning',
  unsupported: 'bad',
};

/** Lines of the smallest screen, without a blank one, the prompt, and one that says how much is left out. */
const screenLines = 21;
/** So many lines of reasons are shown on a terminal, however many feeds there are. */
const leastLines = 5;

/** One screen: the overall state, totals, a row for each feed, and what helps. Pure. */
export function statusText(
  document: StatusDocument,
  look: Look,
  commandLine: CommandLine = (command) => command,
): string {
  const { feeds, reasons } = document;
  const head = headline(document, look);
  const lines = [head.text];
  if (isKnown(document)) lines.push(...summary(document, look));
  if (feeds.length > 0) lines.push('', ...table(document, look));
  const details = [
    ...reasons
      .filter(({ severity }, at) => at === 0 || severity !== 'info')
      .map((reason) => detail(reason, document, look, reason === head.says)),
    ...notes(feeds, look, commandLine),
  ].filter((one) => one.length > 0);
  const shown = look.isTerminal
    ? firstOf(details, Math.max(leastLines, screenLines - lines.length))
    : details;
  if (shown.length > 0) lines.push('', ...shown.flat());
  const more = details.length - shown.length;
  if (more > 0) lines.push(`  and ${more} more: --json lists all`);
  return `${lines.join('\n')}\n`;
}

/** As many as fit, whole. */
function firstOf(details: readonly (readonly string[])[], most: number): (readonly string[])[] {
  let lines = 0;
  return details.filter((one) => (lines += one.length) <= most);
}

/** The line of the overall state, and the reason that it says whole. */
function headline({ overall, reasons, as_of }: StatusDocument, look: Look) {
  const { since } = overall;
  const [name, style] = [overall.state.replace('-', ' '), overallStyles[overall.state]];
  // A sentence that begins with the state does not need it twice.
  const sentence = printable(overall.sentence.replace(/^Stopped: n/u, 'N'));
  const room = look.columns - name.length - 4;
  const fits = (text: string) => !look.isTerminal || widthOf(text) <= room;
  const isDated = since === null || sentence.includes(' since ');
  const dated = isDated ? sentence : `${sentence} Since ${clock(since, new Date(as_of))}.`;
  const text = fits(dated) ? dated : sentence;
  const reason = reasons.find(({ feeds, sentence: said }) =>
    [said, `${feeds.join()}: ${said}`, `Stopped: n${said.slice(1)}`].includes(overall.sentence),
  );
  return {
    text: `${mark(look, style)} ${paint(look, style, name)}: ${fits(text) ? text : fit(text, room)}`,
    says: fits(text) ? reason : undefined,
  };
}

/** What is there; and who works, what today costs, when the next poll is. */
function summary(document: StatusDocument, look: Look): string[] {
  const { totals, workers, credits, standby, next_poll_at, as_of, feeds } = document;
  const at = new Date(as_of);
  const data = [
    `${counted(totals.rows, 'row')}${totals.rows_today > 0 ? ` (${whole(totals.rows_today)} today)` : ''}`,
    ...(totals.newest_item_at === null
      ? []
      : [`newest item ${ageText(totals.newest_item_at, at)} old`]),
    ...(totals.verified_share === null ? [] : [`${percents(totals.verified_share)} verified`]),
  ];
  const work = [
    workersText(workers),
    ...(standby === null ? [] : [standbyText(standby.behind_s)]),
    ...creditsText(credits, at),
    ...(next_poll_at === null ? [] : [`next poll ${clock(next_poll_at, at)}`]),
  ];
  return [...(feeds.length === 0 ? [] : [data]), work].flatMap((parts) =>
    wrap(parts.join(' · '), look.columns - 2).map((line) => `  ${line}`),
  );
}

function workersText(workers: StatusDocument['workers']): string {
  if (workers === null) return 'workers are not seen from here';
  const { start, once } = workers;
  if (start + once === 0) return 'no worker';
  return [
    ...(start === 0 ? [] : [counted(start, 'worker')]),
    ...(once === 0 ? [] : [counted(once, 'sync')]),
  ].join(', ');
}

const standbyText = (seconds: number | null) =>
  seconds === null
    ? 'a standby, unknown how far behind'
    : `a standby, ${seconds === 0 ? 'not' : duration(seconds)} behind`;

function creditsText({ spent, limit, forecast, keys }: StatusDocument['credits'], at: Date) {
  if (keys.length === 0) return [];
  const sum =
    limit === null ? `${whole(spent)} credits today` : `${whole(spent)} of ${whole(limit)} credits`;
  switch (forecast.kind) {
    case 'no-limit':
    case 'unknown':
      return [sum];
    case 'enough':
      return [`${sum}, enough for today`];
    case 'history-takes-days': {
      const { least, most } = forecast.days;
      const about = least === most ? 'about' : 'up to';
      const days = `${about} ${whole(most)} more ${most === 1 ? 'day' : 'days'}`;
      return [`${sum}, history needs ${days} of credits`];
    }
    case 'lasts-until':
      return [`${sum}, enough until ${clock(forecast.at, at)}`];
    case 'spent':
      return [`${sum}, none left until ${clock(forecast.until, at)}`];
  }
}

/** Below so many columns the table has no bars. */
const narrow = 76;
/** Columns of a bar: the least, and the most, of which it takes what the others leave. */
const bars = { least: 4, most: 24 };

function table(document: StatusDocument, look: Look): string[] {
  const { feeds } = document;
  const at = new Date(document.as_of);
  if (look.columns < narrow) {
    return columns(look, {
      head: ['chain', 'list', 'state', 'polled', 'verified'],
      rows: feeds.map((feed) => [
        ...named(feed),
        state(feed, look),
        polled(feed, look),
        share(feed),
      ]),
      aligns: ['left', 'left', 'left', 'right', 'right'],
      flexible: 1,
    });
  }
  const lines = barTable(feeds, at, look, bars.least);
  const spare = look.columns - Math.max(...lines.map(widthOf));
  const width = Math.min(bars.most, bars.least + Math.max(0, spare));
  return barTable(feeds, at, look, width);
}

function barTable(feeds: readonly FeedStatus[], at: Date, look: Look, barWidth: number): string[] {
  return columns(look, {
    head: ['chain', 'list', 'state', 'rows', 'newest', 'polled', 'verified', 'left'],
    rows: feeds.map((feed) => [
      ...named(feed),
      state(feed, look),
      compact(feed.rows),
      newest(feed, at, look),
      polled(feed, look),
      `${bar(look, feed.verified.share, barWidth)} ${share(feed)}`.trimEnd(),
      left(feed),
    ]),
    aligns: ['left', 'left', 'left', 'right', 'right', 'right', 'left', 'right'],
    flexible: 1,
  });
}

const named = ({ chain_name, label }: FeedStatus) => [printable(chain_name), printable(label)];

/** Red only where a person has to act: a key without credits recovers by itself. */
function state({ state: name, failure }: FeedStatus, look: Look): string {
  const isRefused = name === 'blocked' && failure !== 'throttled' && failure !== 'out-of-credits';
  return paint(look, isRefused ? 'bad' : feedStyles[name], name);
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** A duration in its largest unit, for a column. */
function briefly(seconds: number): string {
  const [unit, size] = units.find(([, length]) => seconds >= length) ?? (['s', 1] as const);
  return `${whole(Math.floor(seconds / size))}${unit}`;
}

const ageText = (time: string, at: Date) =>
  briefly(Math.max(0, (at.getTime() - Date.parse(time)) / 1000));

function newest({ newest_item: item, lag_s }: FeedStatus, at: Date, look: Look): string {
  if (item === null) return lag_s === null ? '' : briefly(Math.max(0, lag_s));
  return item.is_met ? ageText(item.at, at) : paint(look, 'warning', ageText(item.at, at));
}

function polled({ poll: { age_s, is_met } }: FeedStatus, look: Look): string {
  if (age_s === null) return '';
  return is_met === false ? paint(look, 'warning', briefly(age_s)) : briefly(age_s);
}

/** `~`: estimated from what was read so far; `≥`: the list may be shorter. */
const signs = { known: '', estimated: '~', 'at-least': '≥', unknown: '' } as const;

const share = ({ verified: { share: part, basis } }: FeedStatus): string =>
  part === null ? '' : `${signs[basis]}${percents(part)}`;

/** What is not the whole is never shown as 100 %. */
const percents = (part: number) => `${part < 1 ? Math.min(99, Math.floor(part * 100)) : 100} %`;

/** The time that is left while history is read, else its requests. */
function left({ left: { requests, ends_in_s } }: FeedStatus): string {
  if (ends_in_s !== null) return `~${briefly(ends_in_s)}`;
  const { likely, most } = requests;
  if (most === null) return 'unknown';
  if (most === 0) return '';
  return likely === null ? `≤${compact(most)} req.` : `~${compact(likely)} req.`;
}

/** Lines of one reason: what it is, unless the headline says it, and what helps. */
function detail(
  { feeds, sentence, advice, command }: Reason,
  document: StatusDocument,
  look: Look,
  isSaid: boolean,
): readonly string[] {
  const names = feedNames(feeds, document.feeds.length, look);
  const what = `${names === '' ? '' : `${names}: `}${sentence}`;
  return [
    ...(isSaid ? [] : wrapped(printable(what), 2, look)),
    ...(advice === null ? [] : wrapped(advice, 4, look)),
    ...(command === null ? [] : [`    ${paint(look, 'command', command)}`]),
  ];
}

/** So many feeds are named on a terminal; the others are counted. */
const mostNamed = 3;

function feedNames(feeds: readonly string[], total: number, { isTerminal }: Look): string {
  const others = feeds.length - mostNamed;
  if (!isTerminal || others <= 1) return feeds.join(', ');
  if (feeds.length === total) return `all ${total} feeds`;
  return `${feeds.slice(0, mostNamed).join(', ')} and ${others} more`;
}

/** On a terminal two lines at most: what is left out is in the document. Elsewhere nothing is. */
function wrapped(text: string, indent: number, look: Look): string[] {
  const blanks = ' '.repeat(indent);
  const room = look.columns - indent;
  const lines = wrap(text, room);
  if (!look.isTerminal) return lines.map((line) => blanks + line);
  const [first = '', ...rest] = lines;
  if (rest.length === 0) return [blanks + first];
  return [blanks + fit(first, room), blanks + fit(rest.map((line) => line.trim()).join(' '), room)];
}

/** A smaller archive is shown by --json alone, in bytes. */
const largeArchive = 1_000_000_000;

/** What is worth knowing, and changes no state. */
function notes(feeds: readonly FeedStatus[], look: Look, commandLine: CommandLine): string[][] {
  const drift = feeds.reduce((sum, { schema_drift }) => sum + schema_drift, 0);
  const archive = feeds.reduce((sum, { archived_bytes }) => sum + archived_bytes, 0);
  return [
    ...(drift === 0
      ? []
      : [
          [
            ...wrapped(
              `${counted(drift, 'field')} this version does not know (stored in extra).`,
              2,
              look,
            ),
            `    ${paint(look, 'command', commandLine('explorer-etl verify'))}`,
          ],
        ]),
    ...(archive < largeArchive ? [] : [[`  ${bytes(archive)} of archived pages`]]),
  ];
}
