import { creditsPerRequest } from '../explorer/budget.ts';
import { feedName } from '../lists/feed.ts';
import type { RequestCount } from '../lists/list.ts';
import { type Finding, placesText } from '../status/findings.ts';
import {
  needsConsent,
  repairRequests,
  requestsOf,
  verifyDocument,
  type VerifiedFeed,
  type VerifyDocument,
  verifyFeeds,
  verifyReport,
  withFile,
} from '../status/verify.ts';
import { configuredFeeds } from '../sync/feeds.ts';
import { type Look, mark, paint, prose, tableLines, widthOf } from '../terminal/layout.ts';
import { counted, whole } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { type CommandLine, type Context, exits, type Registry } from './context.ts';
import { nothingRead, openData } from './database.ts';

export function register({ command, run, explain }: Registry): void {
  command.option('--all', 'feeds that no deployment wants, too').action(run(verify));
  explain(
    ['explorer-etl verify', 'explorer-etl verify --json'],
    'Makes no request. Exit code 0 only if nothing is open.',
  );
}

async function verify(context: Context, { all = false }: { readonly all?: boolean }) {
  await using data = await openData(context, 'reads');
  const { db, settings } = data;
  const how = { pageSize: settings.explorer.pageSize, at: new Date() };
  const every = await verifyFeeds(db);
  const named = new Set(configuredFeeds(settings.chains).map(feedName));
  const isWanted = ({ feed, is_wanted }: VerifiedFeed) => is_wanted || named.has(feed);
  const wanted = every.flatMap((feed) => {
    if (isWanted(feed)) return [feed];
    // No command reads a feed at rest.
    return all ? [{ ...feed, open: feed.open.map((found) => ({ ...found, command: null })) }] : [];
  });
  // The demo has feeds of its own.
  const feeds = context.demo ? wanted : await withFile(db, settings.chains, wanted);
  if (feeds.length === 0) throw nothingRead();
  const document = await verifyReport(db, feeds, how);
  const text = verifyText(context.out, document, context.commandLine);
  const exit = document.counts.open === 0 ? exits.done : exits.open;
  return context.print(verifyDocument, document, text, exit);
}

type FeedVerdict = VerifyDocument['feeds'][number];

/** Lines of a feed in the text; `--json` has all. */
const mostLines = 12;

/** The verdict, open findings and their fixes, verified ranges, notes. */
export function verifyText(
  look: Look,
  document: VerifyDocument,
  commandLine: CommandLine = (command) => command,
): string {
  const { feeds, repair } = document;
  const [head, notes] = [['pending-head'], ['schema-drift', 'caveat']].map((kinds) =>
    feeds.flatMap((feed) =>
      linesOf(feed.notes.filter(({ kind }) => kinds.includes(kind))).flatMap((line) =>
        prose(look, `${feed.feed}: ${line}`, 2),
      ),
    ),
  );
  const parts = [
    verdictLines(look, document),
    ...feeds
      .filter(({ state }) => state === 'open')
      .map((feed) => openLines(look, feed, commandLine)),
    feeds.filter((feed) => feed.repair !== null).length > 1 && repair !== null
      ? [
          'All of it:',
          ...repairLines(look, commandLine(repair.command), repair, repairRequests(document)),
        ]
      : [],
    coveredLines(look, document),
    quiet(look, 'New, not verified yet', head),
    quiet(look, 'Notes', notes),
  ];
  const texts = parts.filter((part) => part.length > 0).map((part) => part.join('\n'));
  return `${texts.join('\n\n')}\n`;
}

const quiet = (look: Look, head: string, lines: readonly string[] = []): string[] =>
  lines.length === 0 ? [] : [head, ...lines].map((line) => paint(look, 'quiet', line));

const outageOf = ({ notes }: FeedVerdict) =>
  notes.find(({ kind }) => kind === 'feed-state')?.sentence;

/** The verdict. During an outage it is that of the last reading; what fails is said in the words of `status`. */
function verdictLines(look: Look, { counts, feeds }: VerifyDocument): string[] {
  const outages = [...Map.groupBy(feeds, outageOf)].flatMap(([outage, those]) => {
    const names = those.map(({ feed }) => feed).join(', ');
    return outage === undefined ? [] : prose(look, `${names}: ${outage}`, 2);
  });
  return [verdict(look, counts, outages.length > 0), ...outages];
}

function verdict(look: Look, { feeds, open, findings }: VerifyDocument['counts'], isOld: boolean) {
  if (open > 0) {
    const what = `${whole(open)} of ${counted(feeds, 'feed')}, ${counted(findings, 'finding')}`;
    return `${mark(look, 'bad')} open: ${what}`;
  }
  const all = feeds === 1 ? '1 feed' : `all ${whole(feeds)} feeds`;
  if (isOld) return `${mark(look, 'warning')} complete as of the last reading: ${all}`;
  return `${mark(look, 'good')} complete: ${all}`;
}

/** Chain, its number, list. */
const nameOf = ({ chain, chain_id, operation }: FeedVerdict): string =>
  `${chain ?? 'chain'} (${chain_id}) ${operation}`;

function openLines(look: Look, feed: FeedVerdict, commandLine: CommandLine): string[] {
  const commands = new Set(feed.open.flatMap(({ command }) => command ?? []));
  return [
    paint(look, 'strong', nameOf(feed)),
    ...linesOf(feed.open).flatMap((line) => prose(look, line, 2)),
    ...[...commands].flatMap((command) => {
      const repair = command === feed.repair?.command ? feed.repair : null;
      return repairLines(look, commandLine(command), repair);
    }),
  ];
}

/** A command with its cost. `judged`: what `repair` without `--yes` is refused by, the known part of the cost. */
function repairLines(
  look: Look,
  line: string,
  repair: VerifyDocument['repair'],
  judged = requestsOf(repair),
): string[] {
  // A person sees the cost beside the command; a program needs `--yes`, else it is refused.
  const command = needsConsent(judged) ? `${line} --yes` : line;
  // A command stays whole, to be copied.
  const lead = `  → ${paint(look, 'command', command)}`;
  const cost = costText(requestsOf(repair));
  if (cost === '') return [lead];
  const price = paint(look, 'quiet', cost);
  const isShort = !look.isTerminal || widthOf(lead + price) + 3 <= look.columns;
  return isShort ? [`${lead}   ${price}`] : [lead, `    ${price}`];
}

/** `about 13 requests, 260 credits; at most 20`; empty: cost unknown. */
export function costText({ likely, most }: RequestCount): string {
  const known = likely ?? most;
  if (known === null) return '';
  if (known === 0) return 'no request';
  const cost = `${counted(known, 'request')}, ${counted(known * creditsPerRequest, 'credit')}`;
  if (likely === null) return `at most ${cost}`;
  return most === null || most <= likely
    ? `about ${cost}`
    : `about ${cost}; at most ${whole(most)}`;
}

/** Findings as lines; one line for all places with the same sentence. */
function linesOf(findings: readonly Finding[]): string[] {
  const alike = Map.groupBy(findings, ({ place, sentence }) => `${place?.unit ?? ''} ${sentence}`);
  const lines = [...alike.values()].map((same) => {
    const [first] = same;
    const places = same.flatMap(({ place }) => place ?? []);
    if (first?.place) return `${placesText(first.place.unit, joined(places))}: ${first.sentence}`;
    return first?.sentence ?? '';
  });
  const rest = lines.length - mostLines;
  return rest > 0
    ? [...lines.slice(0, mostLines), `and ${whole(rest)} more: --json lists all`]
    : lines;
}

/** Merges adjacent ranges, in order. */
function joined(places: readonly { readonly from: number; readonly to: number }[]) {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of places) {
    const last = ranges.at(-1);
    if (last !== undefined && from === last.to + 1) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

/** The verified part of each feed, in one line, or two on a narrow terminal. */
function coveredLines(look: Look, { feeds, at }: VerifyDocument): string[] {
  const rows = feeds
    .filter(({ covered }) => covered.length > 0)
    .map((feed) => {
      const isComplete = feed.state === 'complete';
      const sign = isComplete ? paint(look, 'good', '✓') : paint(look, 'warning', '○');
      return [`${sign} ${nameOf(feed)}`, coveredText(feed, at)] as const;
    });
  const lines = tableLines(look, { rows });
  if (!look.isTerminal || lines.every((line) => widthOf(line) <= look.columns)) return lines;
  return rows.flatMap(([name, what]) => [name, ...prose(look, what, 2)]);
}

function coveredText({ covered, unit }: FeedVerdict, at: string): string {
  const what =
    unit === 'blocks' || unit === 'batches'
      ? placesText(unit, covered)
      : `full snapshot of ${counted(covered[0]?.to ?? 0, 'row')}`;
  const oldest = covered.map(({ as_of }) => new Date(as_of).toISOString()).toSorted()[0] ?? at;
  return `${what}, as of ${clock(oldest, new Date(at))}`;
}
