import type { DemoDocument } from '../documents/demo.ts';
import { printable } from '../printable.ts';
import { feedLines, type FeedLine } from '../terminal/feed-lines.ts';
import type { Look } from '../terminal/look.ts';
import { counted, duration, percent, whole } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { sparkline } from '../terminal/sparkline.ts';
import { fit, widthOf, wrap } from '../terminal/width.ts';
import { isKillClean, type KillFacts } from './demo-facts.ts';
import { listName } from '../words/list-name.ts';

/** How far texts stand in below their heading. */
const indent = '  ';

/** The heading: of what is copied to where. */
export function demoHead(
  look: Look,
  { chains, database }: Pick<DemoDocument, 'chains' | 'database'>,
) {
  const to = database === 'embedded' ? 'embedded Postgres' : 'your Postgres';
  const simulated = counted(chains.length, 'simulated chain');
  const text = ` · ${simulated} → ${to} · no key, no network`;
  return fitted(look, paint(look, 'strong', 'explorer-etl demo') + text);
}

/** A narrower terminal needs every column. */
const isNarrow = ({ isTerminal, columns }: Look) => isTerminal && columns < 80;

/** A line for each feed, below the heading. */
export function demoFeeds(look: Look, lines: readonly FeedLine[]): string[] {
  if (isNarrow(look)) return feedLines(look, lines, 'cells');
  const inner = { ...look, columns: look.columns - indent.length };
  return feedLines(inner, lines, 'cells').map((line) => indent + line);
}

/** What a demo came to, on one screen of 18 lines: beside npm's own and the prompt no more fit. */
export function demoText(document: DemoDocument, look: Look, program: string): string {
  const lines = [
    demoHead(look, document),
    ...demoFeeds(look, document.feeds.map(lineOf(document, look))),
    ...totalsLines(document, look),
    ...killLines(document, look),
    ...answerLines(document, look),
    '',
    ...nextLines(document, look, program),
  ];
  return `${lines.join('\n')}\n`;
}

const lineOf =
  ({ chains, database }: DemoDocument, look: Look) =>
  (feed: DemoDocument['feeds'][number]): FeedLine => {
    const verify = database === 'embedded' ? 'verify --demo' : 'verify';
    const isComplete = feed.state === 'complete';
    const proof = isNarrow(look) ? 'proved' : 'proved complete';
    const proved = feed.evidence === 'census' ? 'census' : proof;
    return {
      chain: printable(chains.find(({ chain_id }) => chain_id === feed.chain_id)?.name ?? ''),
      list: listName(feed.operation),
      share: null,
      rows: feed.rows,
      pages: feed.pages,
      credits: feed.credits,
      stand: isComplete ? 'done' : 'failed',
      note: isComplete ? proved : `${whole(feed.open.length)} open: see ${verify}`,
    };
  };

function totalsLines({ totals }: DemoDocument, look: Look): string[] {
  const { rows, requests, credits, free_day_share, seconds } = totals;
  const parts = [
    `${rows === 0 ? 'no new rows' : counted(rows, 'row')} in ${duration(seconds)}`,
    counted(requests, 'request'),
    `${counted(credits, 'credit')} (${percent(free_day_share)} of a free day)`,
  ];
  const line = indent + parts.join(' · ');
  if (!look.isTerminal || widthOf(line) <= look.columns) return [line];
  const last = parts.pop() ?? '';
  return [`${indent}${parts.join(' · ')}`, indent + last];
}

function killLines(document: DemoDocument, look: Look): string[] {
  const { kill } = document;
  if (kill === null) return [];
  const isClean = isKillClean(kill);
  const sign = isClean ? paint(look, 'good', '✓ ') : paint(look, 'bad', '✗ ');
  const verdict = prose(look, isClean ? cleanKill(kill) : uncleanKill(kill), '', 2);
  const detail =
    `SIGKILL to process ${kill.pid} ${kill.killed_at_page === 0 ? 'at work on' : 'midway in'} ${kill.feed ?? 'no feed'}; ` +
    `${counted(kill.requests_again, 'request')} again`;
  return [
    ...verdict.map((line, at) => (at === 0 ? sign + paint(look, 'strong', line) : line)),
    ...(kill.is_real ? prose(look, detail, indent).map((line) => paint(look, 'quiet', line)) : []),
  ];
}

/** What is told of pages is what is stored: some of them were asked for once more. */
function cleanKill({ killed_at_page, resumed_at_page }: KillFacts): string {
  const from =
    killed_at_page === 0 ? 'before its first page' : `at page ${whole(killed_at_page ?? 0)}`;
  return `Killed ${from}, resumed at ${whole(resumed_at_page ?? 0)}: no page lost, none stored twice`;
}

function uncleanKill(kill: KillFacts): string {
  const { is_real, killed_at_page, resumed_at_page, pages_lost, pages_stored_twice } = kill;
  if (!is_real) return 'The worker could not be killed: it had ended by itself before';
  const from =
    killed_at_page === null ? 'with nothing under way' : `at page ${whole(killed_at_page)}`;
  const to = resumed_at_page === null ? 'never resumed' : `resumed at ${whole(resumed_at_page)}`;
  return `Killed ${from}, ${to}: ${counted(pages_lost, 'page')} lost, ${whole(pages_stored_twice)} stored twice`;
}

/** As many versions as fit in a line, the most used ones. */
function answerLines({ failed_operations }: DemoDocument, look: Look): string[] {
  let line = `${indent}Failed operations, 30 days`;
  for (const { entry_point_version, share, shares } of failed_operations) {
    const sparks = paint(look, 'command', sparkline(shares));
    const more = `   ${printable(entry_point_version)} ${sparks} ${percent(share)}`;
    if (widthOf(line + more) > look.columns) break;
    line += more;
  }
  return failed_operations.length === 0 ? [] : [fitted(look, line)];
}

/** A command to go on with, and what it is for, shorter where the line is. */
type Next = readonly [command: string, what: string];

function nextLines({ database }: DemoDocument, look: Look, program: string): string[] {
  const isEmbedded = database === 'embedded';
  const flag = isEmbedded ? ' --demo' : '';
  const next: Next[] = [
    [`open${flag}`, 'the page; it shows what is proved'],
    [`query${flag} top-senders`, 'a question; query --list has all'],
    ['init --chain 10', 'with your key'],
    ...(isEmbedded ? [['demo --stop', 'stop Postgres'] as const] : []),
  ];
  const head = 'Next   ';
  const width = Math.max(...next.map(([command]) => widthOf(`${program} ${command}`)));
  return next.map(([command, what], at) => {
    const begin = at === 0 ? paint(look, 'strong', head) : ' '.repeat(head.length);
    const typed = `${program} ${command}`;
    const room = look.columns - head.length - width - 3;
    const end = room < widthOf(what) && look.isTerminal ? fitWords(what, room) : what;
    const blanks = ' '.repeat(width - widthOf(typed));
    return `${begin}${paint(look, 'command', typed)}${end === '' ? '' : `${blanks}   ${end}`}`;
  });
}

/** The first part of a text that fits: what is behind a semicolon goes first. */
const fitWords = (text: string, room: number): string =>
  [text, text.split(';')[0] ?? ''].find((part) => widthOf(part) <= room) ?? '';

const prose = (look: Look, text: string, before: string, taken = 0): string[] =>
  wrap(text, look.columns - before.length - taken, taken).map((line) => before + line);

const fitted = (look: Look, text: string): string =>
  look.isTerminal ? fit(text, look.columns) : text;
