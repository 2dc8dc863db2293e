import type { StatusDocument } from '../documents/status.ts';
import { printable } from '../printable.ts';
import { isSeen } from '../report/status-document.ts';
import { bar } from '../terminal/bar.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { mark } from '../terminal/mark.ts';
import { compact, counted, duration, bytes, whole } from '../terminal/numbers.ts';
import { paint, type Style } from '../terminal/paint.ts';
import { fit, widthOf, wrap } from '../terminal/width.ts';
import { adviceOf, type Advice } from '../words/status-advice.ts';
import { summaryOf, verdicts } from '../words/status-summary.ts';
import { feedNames } from '../words/feed-names.ts';
import { listName } from '../words/list-name.ts';

type Feed = StatusDocument['feeds'][number];
type VerdictKind = keyof typeof verdicts;

const stateStyles: Readonly<Record<Feed['state'], Style>> = {
  current: 'good',
  done: 'good',
  running: 'good',
  queued: 'good',
  unread: 'quiet',
  unknown: 'quiet',
  partial: 'warning',
  late: 'warning',
  stale: 'warning',
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

/** Lines of the smallest screen, without a blank one, that of the prompt, and one that says how much is left out. */
const screenLines = 21;
/** So many lines of what to do are shown on a terminal, however many feeds there are. */
const leastLines = 5;

/** One screen: the verdict, who works and what today costs, a row for each feed, and what needs a person. Pure. */
export function statusText(document: StatusDocument, look: Look): string {
  const { feeds, verdict } = document;
  const [gravest, ...others] = adviceOf(document);
  const head = headline(verdict.kind, gravest, look);
  const lines = [head.text];
  if (isSeen(document)) lines.push(...summary(document, look));
  if (feeds.length > 0) lines.push('', ...table(feeds, look));
  const told = [
    ...(gravest === undefined
      ? []
      : [spell(gravest, look, document.feeds, head.saysAll ? 'how' : 'what')]),
    ...others.map((one) => spell(one, look, document.feeds, 'what')),
    ...notes(feeds, look),
  ].filter((one) => one.length > 0);
  const shown = look.isTerminal
    ? firstOf(told, Math.max(leastLines, screenLines - lines.length))
    : told;
  if (shown.length > 0) lines.push('', ...shown.flat());
  const more = told.length - shown.length;
  if (more > 0) lines.push(`  and ${more} more: explorer-etl status --json`);
  return `${lines.join('\n')}\n`;
}

/** As many as fit, whole. */
function firstOf(told: readonly (readonly string[])[], most: number): (readonly string[])[] {
  let lines = 0;
  return told.filter((one) => (lines += one.length) <= most);
}

/** The verdict's line, and whether it says all of its gravest reason. */
function headline(kind: VerdictKind, gravest: Advice | undefined, look: Look) {
  const [name, style] = verdicts[kind];
  const verdict = `${mark(look, style)} ${paint(look, style, name)}`;
  if (gravest === undefined || kind === 'healthy') return { text: verdict, saysAll: true };
  const { feeds } = gravest;
  const whose =
    feeds.length > 1
      ? `${counted(feeds.length, 'feed')}: `
      : feeds.map((one) => `${one}: `).join('');
  const gist = printable(`${whose}${gravest.text}`);
  const room = look.columns - name.length - 4;
  const isCut = look.isTerminal && widthOf(gist) > room;
  const text = `${verdict}: ${isCut ? fit(gist, room) : gist}`;
  return { text, saysAll: !isCut && feeds.length < 2 };
}

/** Who works, what today costs, when it goes on. */
const summary = (document: StatusDocument, look: Look) =>
  wrap(summaryOf(document).join(' · '), look.columns - 2).map((line) => `  ${line}`);

/** Below so many columns a table has no bars, from so many on it tells more. */
const narrow = 76;
const wide = 116;
/** Columns of a bar: the least, and the most, of which it takes what the others leave. */
const bars = { least: 4, most: 24 };

function table(feeds: readonly Feed[], look: Look): string[] {
  if (look.columns < narrow) {
    return columns(look, {
      head: ['chain', 'list', 'state', 'seen', 'proved'],
      rows: feeds.map((feed) => [...named(feed), state(feed, look), seen(feed, look), share(feed)]),
      aligns: ['left', 'left', 'left', 'right', 'right'],
      flexible: 1,
    });
  }
  const lines = barTable(feeds, look, bars.least);
  const spare = look.columns - Math.max(...lines.map(widthOf));
  return barTable(feeds, look, Math.max(bars.least, Math.min(bars.most, bars.least + spare)));
}

function barTable(feeds: readonly Feed[], look: Look, barWidth: number): string[] {
  const isWide = look.columns >= wide;
  return columns(look, {
    head: ['chain', 'list', 'state', 'rows', 'seen', 'proved', isWide ? 'left' : 'pages left'],
    rows: feeds.map((feed) => [
      ...named(feed),
      state(feed, look),
      isWide ? whole(feed.rows) : compact(feed.rows),
      isWide ? seenOf(feed, look) : seen(feed, look),
      `${bar(look, feed.proved.share, barWidth)} ${share(feed)}`.trimEnd(),
      isWide ? left(feed) : pages(feed),
    ]),
    aligns: ['left', 'left', 'left', 'right', 'right', 'left', isWide ? 'left' : 'right'],
    flexible: 1,
  });
}

const named = ({ chain_name, operation }: Feed) => [printable(chain_name), listName(operation)];

const state = (feed: Feed, look: Look) => paint(look, stateStyles[feed.state], feed.state);

/** How long ago the head of the list was looked at. */
function seen({ freshness: { age_s, is_met } }: Feed, look: Look): string {
  if (age_s === null) return '';
  return is_met === false ? paint(look, 'warning', duration(age_s)) : duration(age_s);
}

/** The same against how long ago it may be. */
function seenOf(feed: Feed, look: Look): string {
  const { age_s, objective } = feed.freshness;
  if (age_s === null || objective === null) return seen(feed, look);
  return `${seen(feed, look)} of ${duration(objective.seconds)}`;
}

/** `~`: reckoned from what was read so far; `≥`: the list may well be shorter. */
const signs = { known: '', reckoned: '~', 'at-least': '≥', unknown: '' } as const;

function share({ proved }: Feed): string {
  if (proved.share === null) return '';
  const percents = proved.share < 1 ? Math.min(99, Math.floor(proved.share * 100)) : 100;
  return `${signs[proved.basis]}${percents} %`;
}

function pages({ left: { requests } }: Feed): string {
  if (requests.most === null) return 'unknown';
  return requests.most === 0 ? '' : countText(requests, compact);
}

/** What is likely and, where that is more, the most; else the most alone. */
function countText(
  { likely, most }: Feed['left']['requests'],
  spelled: (count: number) => string,
): string {
  const bound = most === null ? '' : `≤${spelled(most)}`;
  if (likely === null) return bound;
  return most === likely ? `~${spelled(likely)}` : `~${spelled(likely)} (${bound})`;
}

function left(feed: Feed): string {
  const { requests, ends_at } = feed.left;
  if (requests.most === null || requests.most === 0) return pages(feed);
  const lane = feed.lanes.find((one) => one.ends_at === ends_at && ends_at !== null);
  const ends = lane === undefined ? '' : `, ${duration(lane.ends_in_s)}`;
  const unit = requests.most === 1 ? 'page' : 'pages';
  return `${countText(requests, whole)} ${unit}${ends}`;
}

/** Lines of one thing: what it is, unless the headline says it, and how it is mended. */
function spell(
  { feeds, text, todo, command }: Advice,
  look: Look,
  all: readonly Feed[],
  from: 'what' | 'how',
): readonly string[] {
  const names = feedNames(feeds, namesOf(all), look);
  const what = `${names === '' ? '' : `${names}: `}${text}`;
  return [
    ...(from === 'what' ? wrapped(printable(what), 2, look) : []),
    ...(todo === null ? [] : wrapped(todo, 4, look)),
    ...(command === null ? [] : [`    ${paint(look, 'command', command)}`]),
  ];
}

/** On a terminal two lines at most: what is left out is in the document. Elsewhere nothing is. */
function wrapped(text: string, indent: number, look: Look): string[] {
  const blanks = ' '.repeat(indent);
  if (!look.isTerminal) return wrap(text, look.columns - indent).map((line) => blanks + line);
  const [first = '', second, ...rest] = wrap(text, look.columns - indent);
  if (second === undefined) return [blanks + first];
  const room = look.columns - indent;
  const last = rest.length === 0 ? second : `${second.trim()} ${rest.join(' ').trim()}`;
  return [blanks + fit(first, room), blanks + fit(last, room)];
}

const namesOf = (feeds: readonly Feed[]) => feeds.map(({ feed }) => feed);

/** An archive of less is told by --json alone, in bytes. */
const largeArchive = 1_000_000_000;

/** What should be known, and changes no verdict. */
function notes(feeds: readonly Feed[], look: Look): string[][] {
  const drifted = feeds.filter(({ drift }) => drift > 0);
  const ways = drifted.reduce((sum, { drift }) => sum + drift, 0);
  const archive = feeds.reduce((sum, { archived_bytes }) => sum + archived_bytes, 0);
  return [
    ...(drifted.length === 0
      ? []
      : [
          [
            ...wrapped(
              `${feedNames(namesOf(drifted), namesOf(feeds), look)}: items differ from the specification in ${counted(ways, 'way')}`,
              2,
              look,
            ),
            `    ${paint(look, 'command', 'explorer-etl verify')}`,
          ],
        ]),
    ...(archive < largeArchive ? [] : [[`  ${bytes(archive)} of archived pages`]]),
  ];
}
