import type { StatusDocument } from '../documents/status.ts';
import { printable } from '../printable.ts';
import { bar } from '../terminal/bar.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { mark } from '../terminal/mark.ts';
import { compact, counted, duration, bytes, whole } from '../terminal/numbers.ts';
import { paint, type Style } from '../terminal/paint.ts';
import { fit, wrap } from '../terminal/width.ts';
import { adviceOf, type Advice } from './status-advice.ts';
import { clock } from './status-words.ts';

type Feed = StatusDocument['feeds'][number];
type VerdictKind = StatusDocument['verdict']['kind'];

/** How a verdict is called and coloured. */
const verdicts: Readonly<Record<VerdictKind, readonly [name: string, style: Style]>> = {
  'database-away': ['database away', 'bad'],
  'needs-you': ['needs you', 'bad'],
  stopped: ['stopped', 'bad'],
  paused: ['paused', 'warning'],
  waiting: ['waiting', 'warning'],
  behind: ['behind', 'warning'],
  'never-read': ['never read', 'warning'],
  'reading-history': ['reading history', 'good'],
  healthy: ['healthy', 'good'],
};

const stateStyles: Readonly<Record<Feed['state'], Style>> = {
  current: 'good',
  done: 'good',
  running: 'good',
  queued: 'good',
  unread: 'quiet',
  unknown: 'quiet',
  partial: 'warning',
  late: 'warning',
  awaiting: 'warning',
  paused: 'warning',
  waiting: 'warning',
  degraded: 'warning',
  unordered: 'warning',
  stalled: 'bad',
  unattended: 'bad',
  unauthorized: 'bad',
  unsupported: 'bad',
  failed: 'bad',
};

/** So many things are told on a terminal with what to do: with six feeds they fit 24 lines. */
const mostAdvice = 5;

/** One screen: the verdict, who works and what today costs, a row for each feed, and what needs a person. Pure. */
export function statusText(document: StatusDocument, look: Look): string {
  const { feeds, verdict } = document;
  const advice = adviceOf(document);
  const lines = [headline(verdict.kind, advice[0], look)];
  if (verdict.kind !== 'database-away') lines.push(...summary(document, look));
  if (feeds.length > 0) lines.push('', ...table(feeds, look));
  const below = advice.flatMap((one, at) => spell(one, at === 0, look));
  const told = [...below, ...notes(feeds)];
  const isCut = look.isTerminal && told.length > mostAdvice;
  const shown = isCut ? told.slice(0, mostAdvice) : told;
  if (shown.length > 0) lines.push('', ...shown.flat());
  if (isCut)
    lines.push(`  and ${counted(told.length - mostAdvice, 'more')}: explorer-etl status --json`);
  return `${lines.join('\n')}\n`;
}

function headline(kind: VerdictKind, gravest: Advice | undefined, look: Look): string {
  const [name, style] = verdicts[kind];
  const dot = `${mark(look, style)} ${paint(look, style, name)}`;
  const gist = gravest === undefined ? '' : printable(gravest.text);
  if (gist === '' || kind === 'healthy') return dot;
  const room = look.columns - name.length - 4;
  return `${dot}: ${look.isTerminal ? fit(gist, room) : gist}`;
}

/** Who works, what today costs, when it goes on. */
function summary({ workers, credits, standby, next_poll_at, as_of }: StatusDocument, look: Look) {
  const parts = [
    working(workers),
    ...(standby === null ? [] : [behind(standby.behind_s)]),
    ...spending(credits, as_of),
    ...(next_poll_at === null ? [] : [`next poll ${clock(next_poll_at, as_of)}`]),
  ];
  return wrap(parts.join(' · '), look.columns - 2).map((line) => `  ${line}`);
}

function working(workers: StatusDocument['workers']): string {
  if (workers === null) return 'workers not seen from here';
  const { start, once } = workers;
  if (start + once === 0) return 'no worker';
  return [
    ...(start === 0 ? [] : [counted(start, 'worker')]),
    ...(once === 0 ? [] : [counted(once, 'sync')]),
  ].join(', ');
}

const behind = (seconds: number | null) =>
  seconds === null
    ? 'a standby, nobody knows how far behind'
    : `a standby, ${duration(seconds)} behind`;

function spending({ spent, limit, forecast, keys }: StatusDocument['credits'], now: string) {
  if (keys.length === 0) return [];
  const sum =
    limit === null ? `${whole(spent)} credits today` : `${whole(spent)} of ${whole(limit)} credits`;
  switch (forecast.kind) {
    case 'no-limit':
      return [sum];
    case 'enough':
      return [`${sum}, enough for today`];
    case 'lasts-until':
      return [`${sum}, lasts until ${clock(forecast.at, now)}`];
    case 'spent':
      return [`${sum}, none left until ${clock(forecast.until, now)}`];
    case 'unknown':
      return [sum];
  }
}

/** Below so many columns a table has no bars, from so many on it tells more. */
const narrow = 76;
const wide = 116;

function table(feeds: readonly Feed[], look: Look): string[] {
  if (look.columns < narrow) {
    return columns(look, {
      head: ['chain', 'list', 'state', 'seen', 'proved'],
      rows: feeds.map((feed) => [...named(feed), state(feed, look), seen(feed), share(feed)]),
      aligns: ['left', 'left', 'left', 'right', 'right'],
      flexible: 1,
    });
  }
  const isWide = look.columns >= wide;
  return columns(look, {
    head: ['chain', 'list', 'state', 'rows', 'seen', 'proved', isWide ? 'left' : 'pages left'],
    rows: feeds.map((feed) => [
      ...named(feed),
      state(feed, look),
      isWide ? whole(feed.rows) : compact(feed.rows),
      isWide ? seenOf(feed) : seen(feed),
      `${bar(look, feed.proved.share, isWide ? 20 : 4)} ${share(feed)}`.trimEnd(),
      isWide ? left(feed) : pages(feed),
    ]),
    aligns: ['left', 'left', 'left', 'right', 'right', 'left', isWide ? 'left' : 'right'],
    flexible: 1,
  });
}

const named = ({ chain_name, operation }: Feed) => [
  printable(chain_name),
  printable(operation).replaceAll('-', ' '),
];

const state = (feed: Feed, look: Look) => paint(look, stateStyles[feed.state], feed.state);

/** How long ago the head of the list was looked at. */
const seen = ({ freshness: { age_s } }: Feed) => (age_s === null ? '' : duration(age_s));

/** The same against how long ago it may be. */
function seenOf(feed: Feed): string {
  const { age_s, objective } = feed.freshness;
  if (age_s === null || objective === null) return seen(feed);
  return `${seen(feed)} of ${duration(objective.seconds)}`;
}

/** `~`: reckoned from what was read so far; `≥`: the list may well be shorter. */
const signs = { known: '', reckoned: '~', 'at-least': '≥', unknown: '' } as const;

function share({ proved }: Feed): string {
  if (proved.share === null) return '';
  const percents = proved.share < 1 ? Math.min(99, Math.floor(proved.share * 100)) : 100;
  return `${signs[proved.basis]}${percents} %`;
}

function pages({ left: { requests, is_at_most } }: Feed): string {
  if (requests === null) return 'unknown';
  return requests === 0 ? '' : `${is_at_most ? '≤' : '~'}${compact(requests)}`;
}

function left(feed: Feed): string {
  const { requests, ends_at } = feed.left;
  if (requests === null || requests === 0) return pages(feed);
  const lane = feed.lanes.find((one) => one.ends_at === ends_at && ends_at !== null);
  const ends = lane === undefined ? '' : `, ${duration(lane.ends_in_s)}`;
  return `${feed.left.is_at_most ? '≤' : '~'}${counted(requests, 'page')}${ends}`;
}

/** Lines of one thing: what it is, unless the headline says it, and what to do. */
function spell({ feeds, text, todo, command }: Advice, isFirst: boolean, look: Look): string[][] {
  const what = feeds.length === 0 ? text : `${feeds.join(', ')}: ${text}`;
  const said = isFirst && feeds.length === 0 ? [] : [wrapped(printable(what), look)];
  const does =
    command === null
      ? todo === null
        ? []
        : [`    ${todo}`]
      : [`    ${paint(look, 'command', command)}`];
  const lines = [...said.flat(), ...does];
  return lines.length === 0 ? [] : [lines];
}

/** On a terminal one line: what is left out is in the document. */
const wrapped = (text: string, look: Look): string[] =>
  look.isTerminal ? [`  ${fit(text, look.columns - 2)}`] : [`  ${text}`];

/** An archive of less is told by --json alone, in bytes. */
const largeArchive = 1_000_000_000;

/** What should be known, and changes no verdict. */
function notes(feeds: readonly Feed[]): string[][] {
  const drifted = feeds.filter(({ drift }) => drift > 0);
  const archive = feeds.reduce((sum, { archived_bytes }) => sum + archived_bytes, 0);
  return [
    ...(drifted.length === 0
      ? []
      : [
          [
            `  ${drifted.map(({ feed }) => feed).join(', ')}: items differ from the specification`,
            '    explorer-etl verify',
          ],
        ]),
    ...(archive < largeArchive ? [] : [[`  ${bytes(archive)} of archived pages`]]),
  ];
}
