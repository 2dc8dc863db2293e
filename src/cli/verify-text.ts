import type { HeadFinding, ToldFinding } from '../documents/finding.ts';
import type { VerifyDocument } from '../documents/verify.ts';
import { printable } from '../printable.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { mostUnasked } from '../report/repairs.ts';
import { mark } from '../terminal/mark.ts';
import { counted, whole } from '../terminal/numbers.ts';
import { costText } from './cost-text.ts';
import { paint } from '../terminal/paint.ts';
import { widthOf, wrap } from '../terminal/width.ts';
import { sayFinding, spellPlaces, type Said } from '../words/finding-text.ts';
import { gatherNotes } from '../words/note-text.ts';

type Feed = VerifyDocument['feeds'][number];
type Repair = NonNullable<VerifyDocument['repair']>;

/** Groups of equal findings that are listed of a feed; more is for --json. */
const mostGroups = 12;

/** What `verify` says: the verdict, what is open and how it is mended, what is proved, what is to be known. */
export function verifyText(look: Look, document: VerifyDocument): string {
  const { feeds } = document;
  const open = feeds.filter(({ state }) => state === 'open');
  const parts = [
    [verdict(look, document)],
    ...open.map((feed) => openLines(look, feed)),
    ...(open.filter(({ repair }) => repair !== null).length > 1 && document.repair !== null
      ? [['All of it:', ...repairLines(look, document.repair)]]
      : []),
    provedLines(look, document),
    section(look, feeds, 'New, and not proved yet', ({ head }) => groups(head)),
    section(look, feeds, 'To know', ({ notes }) => gatherNotes(notes)),
  ];
  const lines = parts.filter((part) => part.length > 0).map((part) => part.join('\n'));
  return `${lines.join('\n\n')}\n`;
}

/** A line below a head, folded where a terminal is narrow; elsewhere it stays one, for grep. */
const indented = (look: Look, line: string): string[] =>
  (look.isTerminal ? wrap(line, look.columns - 2, 2) : [line]).map((part) => `  ${part}`);

function verdict(look: Look, { counts, exit }: VerifyDocument): string {
  if (exit.code === 0) {
    const all =
      counts.feeds === 0
        ? 'nothing was asked for yet'
        : counts.feeds === 1
          ? '1 feed'
          : `all ${whole(counts.feeds)} feeds`;
    return `${mark(look, 'good')} complete: ${all}`;
  }
  const what = `${whole(counts.open)} of ${counted(counts.feeds, 'feed')}, ${counted(counts.findings, 'finding')}`;
  return `${mark(look, 'bad')} open: ${what}`;
}

/** `optimism (10) user-operations` */
const nameOf = ({ chain, chain_id, operation }: Feed): string =>
  printable(`${chain ?? 'chain'} (${chain_id}) ${operation}`);

function openLines(look: Look, { open, repair, ...feed }: Feed): string[] {
  const said = groups(open);
  const lines = said.slice(0, mostGroups).flatMap((line) => indented(look, line));
  const rest = said.length - mostGroups;
  return [
    paint(look, 'strong', nameOf({ open, repair, ...feed })),
    ...lines,
    ...(rest > 0 ? [`  and ${whole(rest)} more: explorer-etl verify --json`] : []),
    ...commandsOf(open, repair).flatMap((each) => repairLines(look, each)),
  ];
}

/** Each command once: that of the repair with its cost. */
function commandsOf(open: readonly ToldFinding[], repair: Repair | null): Repair[] {
  const commands = new Set(open.flatMap(({ command }) => (command === null ? [] : [command])));
  return [...commands].map((command) =>
    command === repair?.command ? repair : withoutCost(command),
  );
}

const withoutCost = (command: string): Repair => ({
  command,
  requests: null,
  credits: null,
  at_most: null,
});

function repairLines(look: Look, { command: wanted, requests, at_most }: Repair): string[] {
  // Whoever copies it has read the cost beside it; a program that runs commands is to be refused.
  const command = (requests ?? at_most ?? 0) > mostUnasked ? `${wanted} --yes` : wanted;
  const cost = costText({ likely: requests, requests: at_most });
  const line = `  → ${command}`;
  const drawn = `  → ${paint(look, 'command', command)}`;
  if (cost === '') return [drawn];
  const isShort = !look.isTerminal || line.length + 3 + cost.length <= look.columns;
  return isShort
    ? [`${drawn}   ${paint(look, 'quiet', cost)}`]
    : [drawn, `    ${paint(look, 'quiet', cost)}`];
}

/** Equal findings about several places as one line. */
function groups(findings: readonly (ToldFinding | HeadFinding)[]): string[] {
  const bySaying = new Map<string, Said[]>();
  for (const finding of findings) {
    const said = sayFinding(finding);
    const key = `${said.place?.of ?? ''} ${said.says}`;
    bySaying.set(key, [...(bySaying.get(key) ?? []), said]);
  }
  return [...bySaying.values()].map((same) => {
    const [first] = same;
    const places = same.flatMap(({ place }) => (place === null ? [] : [place]));
    const of = first?.place?.of;
    if (first === undefined || of === undefined) return first?.says ?? '';
    return `${spellPlaces(of, of === 'border' ? places : joined(places))}: ${first.says}`;
  });
}

/** Neighbouring ranges, in order, as one. */
function joined(places: readonly { readonly from: number; readonly to: number }[]) {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of places) {
    const last = ranges.at(-1);
    if (last !== undefined && from === last.to + 1) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

/** A line for each feed, or two where a terminal is narrow: what of it is proved. */
function provedLines(look: Look, { feeds, at }: VerifyDocument): string[] {
  const rows = feeds
    .filter(({ covered }) => covered.length > 0)
    .map((feed) => {
      const sign =
        feed.state === 'complete' ? paint(look, 'good', '✓') : paint(look, 'warning', '○');
      return [`${sign} ${nameOf(feed)}`, provedText(feed, at)] as const;
    });
  const lines = columns(look, { rows });
  if (!look.isTerminal || lines.every((line) => widthOf(line) <= look.columns)) return lines;
  return rows.flatMap(([name, what]) => [name, ...indented(look, what)]);
}

function provedText({ covered, unit }: Feed, at: string): string {
  const [first] = covered;
  const what =
    unit === 'ranks' && first !== undefined
      ? `ranking of ${counted(first.to, 'factory')}`
      : spellPlaces(unit === 'batches' ? 'batches' : 'blocks', covered);
  return `${what}, ${spellTime(covered, at)}`;
}

/** When the oldest and the newest proof of some ranges began: the clock of UTC where that is one day. */
function spellTime(covered: Feed['covered'], at: string): string {
  const times = covered.map(({ as_of }) => new Date(as_of).toISOString()).toSorted();
  const newest = covered.map((range) => new Date(range.newest_as_of).toISOString()).toSorted();
  const [from = at, to = at] = [times[0], newest.at(-1)];
  const [first, last] = [from, to].map((time) => dayOf(time, at));
  return first === last ? `as of ${from.slice(11, 16)} UTC ${first}` : `as of ${first} to ${last}`;
}

const dayOf = (iso: string, at: string) =>
  iso.slice(0, 10) === at.slice(0, 10) ? 'today' : iso.slice(0, 10);

/** What is told of feeds under a head, a feed's name before each. */
function section(
  look: Look,
  feeds: readonly Feed[],
  head: string,
  linesOf: (feed: Feed) => readonly string[],
): string[] {
  const lines = feeds.flatMap((feed) => {
    const told = linesOf(feed);
    const rest = told.length - mostGroups;
    return [
      ...told.slice(0, mostGroups),
      ...(rest > 0 ? [`${whole(rest)} more: explorer-etl verify --json`] : []),
    ].flatMap((line) => indented(look, `${printable(feed.feed)}: ${line}`));
  });
  return lines.length === 0 ? [] : [head, ...lines].map((line) => paint(look, 'quiet', line));
}
