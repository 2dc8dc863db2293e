import type { SyncDocument } from '../documents/sync.ts';
import { failures } from '../failure.ts';
import { printable } from '../printable.ts';
import { feedNames } from '../words/feed-names.ts';
import type { Look } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { paint, type Style } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';

type Lane = SyncDocument['lanes'][number];

/** A sign, and what it is about. */
interface Line {
  readonly sign: string;
  readonly style: Style;
  readonly text: string;
  /** The command that shows it, or mends it. */
  readonly command?: string;
}

/**
 * What `sync`, `backfill` and `repair` came to: what was read first, then what went wrong, what to look at, and what is
 * still to be read. Pure.
 *
 * @param again the command as the user gave it
 */
export function syncText(look: Look, document: SyncDocument, again: string): string[] {
  const { lanes, totals, exit } = document;
  if (lanes.length === 0 && exit.reason === 'done') {
    return drawn(look, [
      { sign: '✓', style: 'good', text: 'Nothing to do: what was asked for is there.' },
    ]);
  }
  const all = lanes.map(({ feed }) => feed);
  const namesOf: NamesOf = (some) =>
    feedNames(
      some.map(({ feed }) => feed),
      all,
      look,
    );
  return drawn(look, [
    readLine(document),
    ...othersLine(document),
    ...failureLines(lanes, namesOf),
    ...(totals.quarantined === 0
      ? []
      : [noted(lanes, 'quarantined', ['item in quarantine', 'items in quarantine'], namesOf)]),
    ...(totals.drift === 0
      ? []
      : [
          noted(
            lanes,
            'drift',
            ['new difference from the specification', 'new differences from the specification'],
            namesOf,
          ),
        ]),
    ...openLines(document, look),
    ...(exit.reason === 'interrupted'
      ? [
          {
            sign: '‖',
            style: 'warning' as const,
            text: 'Interrupted. All of this is committed; the same command goes on:',
            command: again,
          },
        ]
      : []),
  ]);
}

function readLine({ lanes, totals, exit }: SyncDocument): Line {
  const { rows_added, rows_changed, pages, requests, credits, seconds } = totals;
  // What went otherwise has a line, and a sign, of its own.
  const isGood = exit.reason === 'done' && lanes.some(({ state }) => state !== 'unsupported');
  const sign = isGood ? '✓' : ' ';
  const changed = rows_changed === 0 ? '' : `, ${whole(rows_changed)} changed`;
  const rows = `${counted(rows_added, 'row')} added${changed}`;
  const cost = [counted(pages, 'page'), counted(requests, 'request'), counted(credits, 'credit')];
  const parts = [rows, cost.join(', '), duration(seconds)];
  return { sign, style: 'good', text: parts.join(' · ') };
}

/** What others added is not this command's; without it, nothing would seem to be new. */
function othersLine({ totals: { rows_added_by_others: rows } }: SyncDocument): Line[] {
  if (rows === 0) return [];
  const text = `${counted(rows, 'row')} added by other processes that work on the same feeds`;
  return [{ sign: ' ', style: 'quiet', text }];
}

/** What failed, each reason once: what is wrong with a key is wrong with all of its feeds. */
function failureLines(lanes: readonly Lane[], namesOf: NamesOf): Line[] {
  const ended = lanes.filter(
    ({ state }) => state === 'failed' || state === 'unsupported' || state === 'superseded',
  );
  const groups = Map.groupBy(ended, (lane) => `${lane.state} ${causeOf(lane)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const sign =
      first.state === 'failed'
        ? ({ sign: '✗', style: 'bad' } as const)
        : ({ sign: '–', style: 'quiet' } as const);
    return [{ ...sign, text: `${whoseOf(group, namesOf)}: ${first.state}: ${saidOf(first)}` }];
  });
}

/** Whom a failure concerns: feeds, or whole chains. */
function whoseOf(group: readonly Lane[], namesOf: NamesOf): string {
  if (group[0]?.failure !== 'unknown-chain') return namesOf(group);
  const chains = [...new Set(group.map(({ chain_id }) => chain_id))];
  return `${chains.length === 1 ? 'chain' : 'chains'} ${chains.join(', ')}`;
}

/** What is wrong with a key is one thing, though each feed tells it with a time of its own. */
const causeOf = (lane: Lane): string =>
  lane.failure !== null && failures[lane.failure].stops === 'key' ? lane.failure : saidOf(lane);

const saidOf = ({ state, reason, failure }: Lane): string => {
  if (state === 'superseded') return 'replaced by a run with other bounds.';
  // The reason begins with the class where there is one.
  const said = printable(reason ?? 'the run did not end.');
  return failure !== null && said.startsWith(`${failure}: `) && failure === state
    ? said.slice(failure.length + 2)
    : said;
};

type NamesOf = (lanes: readonly Pick<Lane, 'feed'>[]) => string;

/** What is to be looked at: how many, of which feeds, and by what command. */
function noted(
  lanes: readonly Lane[],
  of: 'quarantined' | 'drift',
  [one, others]: readonly [string, string],
  namesOf: NamesOf,
): Line {
  const having = lanes.filter((lane) => lane[of] > 0);
  const sum = having.reduce((all, lane) => all + lane[of], 0);
  return {
    sign: '!',
    style: 'warning',
    text: `${counted(sum, one, others)}: ${namesOf(having)}`,
    command: of === 'quarantined' ? 'explorer-etl quarantine list' : 'explorer-etl verify',
  };
}

/** What is still to be read, and the command that says what it costs. */
function openLines({ history, lanes }: SyncDocument, look: Look): Line[] {
  if (history.length === 0) return [];
  const all = [...history, ...lanes].map(({ feed }) => feed);
  const known = history.filter(({ requests }) => requests !== null);
  const pages = known.reduce((sum, { requests }) => sum + (requests ?? 0), 0);
  const named = (feeds: typeof history) =>
    feedNames(
      feeds.map(({ feed }) => feed),
      all,
      look,
    );
  const unknown = history.filter(({ requests }) => requests === null);
  const parts = [
    ...(known.length === 0 ? [] : [`up to ${counted(pages, 'page')} of ${named(known)}`]),
    ...(unknown.length === 0 ? [] : [`nobody knows how much of ${named(unknown)}`]),
  ];
  const text = `History still to be read: ${parts.join('; ')}`;
  return [{ sign: ' ', style: 'quiet', text, command: 'explorer-etl plan' }];
}

/** The lines; a command goes behind the text where it fits, else below. */
function drawn(look: Look, lines: readonly Line[]): string[] {
  return lines.flatMap(({ sign, style, text, command }) => {
    const width = look.isTerminal ? look.columns : Infinity;
    const [first = '', ...rest] = wrapped(text, width - indent);
    const told = [`${paint(look, style, sign)} ${first}`.trimEnd(), ...rest.map(indented)];
    if (command === undefined) return told;
    const shown = paint(look, 'command', command);
    const isRoom = rest.length === 0 && indent + first.length + 3 + command.length <= width;
    return isRoom ? [`${told[0]}   ${shown}`] : [...told, indented(shown)];
  });
}

const indent = 2;
const indented = (line: string) => `${' '.repeat(indent)}${line}`;
const wrapped = (text: string, width: number) => (width === Infinity ? [text] : wrap(text, width));
