import { z } from 'zod';
import { isOperation } from '../lists/registry.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** A finding of `verify`. The first five kinds keep a feed incomplete; the others are notes. */
export const finding = z.strictObject({
  kind: z
    .enum([
      'gap',
      'unverified',
      'mismatch',
      'quarantine',
      'feed-state',
      'pending-head',
      'schema-drift',
      'caveat',
    ])
    .describe(
      'gap: not downloaded. unverified: downloaded, but neighbours or order do not confirm it. mismatch: what is stored, was downloaded and is listed differs. quarantine: items that could not become rows. feed-state: the feed fails. pending-head: the newest, waits for what is to come. schema-drift: items differ from the specification. caveat: what limits the completeness.',
    ),
  place: z
    .strictObject({ unit: z.enum(['blocks', 'batches']), from: z.int(), to: z.int() })
    .nullable()
    .describe('Where in the list. Null: it is about all of it.'),
  sentence: z.string().describe('What it is, for people; the wording may change.'),
  command: z.string().nullable().describe('What fixes or shows it. Null: nothing to do.'),
  count: z.int().min(0).nullable().describe('How many blocks, batches, items or fields, if any.'),
});

export type Finding = z.infer<typeof finding>;
type Kind = Finding['kind'];
type Place = NonNullable<Finding['place']>;

/** A finding from the database: a code, a place, and parts of the sentence by name. */
export interface RawFinding {
  readonly detail: string;
  readonly from?: number;
  readonly to?: number;
  readonly count?: number;
  readonly [part: string]: unknown;
}

/** The command that fixes or lists a finding. */
type Remedy = 'repair' | 'sync' | 'quarantine list' | null;
/** `{part}` stands for a part of the raw finding, `{# noun}` for its count. */
type Sentence = string | ((raw: RawFinding) => string);

/** The remedy and sentence of every code, by kind. The sentence follows the place. */
const details: Readonly<Record<Kind, Readonly<Record<string, readonly [Remedy, Sentence]>>>> = {
  gap: {
    'not-downloaded': ['repair', 'not downloaded'],
    'never-read': ['sync', 'never read'],
    'no-batch-found': ['sync', 'the newest batch is not found yet'],
    'listed-without-blocks': ['sync', 'listed, but without blocks'],
  },
  unverified: {
    'no-evidence': ['repair', 'nothing is verified'],
    'no-coverage': ['repair', 'nothing is verified: no range is covered yet'],
    // No read batch is open: `sync` has to find one.
    'no-verified-batch': ['sync', 'nothing is verified: no batch is verified yet'],
    'no-snapshot': ['repair', 'nothing is verified: no full snapshot yet'],
    'empty-unconfirmed': ['repair', 'downloaded as empty, which no neighbour confirms'],
    'not-linked': ['repair', 'heights or hashes inside do not link'],
    'border-not-linked': ['repair', 'heights or hashes do not link at the border'],
    'awaits-update': ['repair', '{# block} to be updated by the service'],
    'without-parents': ['repair', '{# block} without a parent hash'],
    'ends-early': ['repair', 'the list ended above the lowest block'],
    'never-read-whole': ['repair', 'never read in order and to the end'],
    'not-verified': ['repair', 'not confirmed by the batches around'],
    'head-too-long': ['repair', headTooLong],
    'verified-awaits-update': ['repair', 'verified, but {# block} to be updated by the service'],
  },
  mismatch: {
    'block-count-differs': ['repair', '{# block} stored, {downloaded} downloaded'],
    'block-range-differs': ['repair', 'blocks {stored} stored, {read} downloaded'],
    'verified-not-linked': [
      'repair',
      '{# block} not linked to the one below, though verified before',
    ],
    'listed-range-differs': ['repair', 'blocks {read} downloaded, {listed} in the list of batches'],
    'listed-not-empty': ['repair', 'downloaded as empty, blocks {listed} in the list of batches'],
    'totals-differ': ['repair', 'stored totals differ from the walks'],
  },
  quarantine: { quarantine: ['quarantine list', '{# item} in quarantine'] },
  // The reason says what is wrong; a successful run removes it.
  'feed-state': { 'feed-state': ['sync', '{state}'] },
  'pending-head': {
    'waits-for-blocks': [null, 'waiting for the rest of the blocks'],
    'waits-for-update': [null, 'waiting for an update by the service'],
    'waits-for-lowest-blocks': [null, 'waiting for a second read of the lowest blocks'],
    'waits-for-next-batch': [null, 'waiting for the next batch'],
  },
  caveat: {
    'rows-moved': [
      null,
      'rows still moved in the last of {# read}: one that moved up may be missing',
    ],
    'part-skipped': [null, 'an empty page skipped a part: the previous snapshot stays'],
    'empty-list': [null, 'the list was empty: the previous snapshot stays'],
    'items-dropped': [null, 'not stored: {# item} dropped from quarantine'],
    'lower-edge': [null, lowerEdge],
  },
  'schema-drift': {
    'new-field': [null, '{# unknown field} stored in extra: {items}'],
    'vanished-field': [null, '{# field} missing from every item: {items}'],
    'mistyped-field': [null, '{# field} of another type, stored in extra unless null: {items}'],
    'malformed-field': [null, '{# field} of another format, stored in extra: {items}'],
    'new-value': [null, '{# unknown value} stored as it is: {items}'],
  },
};

const codes = new Map(
  finding.shape.kind.options.flatMap((kind) =>
    Object.entries(details[kind]).map(([code, [remedy, says]]) => [code, { kind, remedy, says }]),
  ),
);

const filled = (template: string, raw: RawFinding): string =>
  template.replaceAll(/\{(# )?([^}]+)\}/gu, (_, isCount: string | undefined, name: string) =>
    isCount === undefined ? partText(raw[name], raw) : counted(raw.count ?? 0, name),
  );

/** A number, a range or none, the first of `count` names, or a text. */
function partText(part: unknown, { count = 0 }: RawFinding): string {
  if (typeof part === 'number') return whole(part);
  if (typeof part === 'string') return part;
  if (!Array.isArray(part)) return 'none';
  if (part.every((end) => typeof end === 'number')) return part.map(whole).join(' to ');
  return `${part.join(', ')}${count > part.length ? ` and ${whole(count - part.length)} more` : ''}`;
}

function headTooLong({ count = 0, verified_to: highest }: RawFinding): string {
  if (highest === null) return 'none of them is verified';
  return `${whole(count)} not verified above the highest verified one`;
}

function lowerEdge({ count = 0 }: RawFinding): string {
  const below = count === 0 ? '' : `; ${counted(count, 'empty number')} below, not confirmed`;
  return `complete; lower edge unverified (previous batch not downloaded)${below}`;
}

/** A finding's feed, and the unit of its places; null: no places, or unknown. */
export interface FindingSource {
  readonly chain_id: number;
  readonly operation: string;
  readonly unit: Place['unit'] | null;
}

/** The finding of a feed; a newer version's code has `unknownKind` and the raw text. */
export function findingOf(raw: RawFinding, feed: FindingSource, unknownKind: Kind): Finding {
  const { detail, from, to, count = null } = raw;
  const place =
    from === undefined || to === undefined || feed.unit === null
      ? null
      : { unit: feed.unit, from, to };
  const unknown = { kind: unknownKind, remedy: null, says: () => JSON.stringify(raw) };
  const { kind, remedy, says } = codes.get(detail) ?? unknown;
  const sentence = typeof says === 'string' ? filled(says, raw) : says(raw);
  // This version has no command for an unknown list.
  const hasCommand = remedy !== null && isOperation(feed.operation);
  const command = hasCommand ? commandFor(remedy, feed) : null;
  return { kind, place, sentence, command, count };
}

/** A command with the flags of a feed. */
export const commandFor = (
  what: string,
  { chain_id, operation }: Omit<FindingSource, 'unit'>,
): string => `explorer-etl ${what} --chain ${chain_id} --operation ${operation}`;

/** A finding as one line for people. */
export const findingText = ({ place, sentence }: Finding): string =>
  place === null ? sentence : `${placesText(place.unit, [place])}: ${sentence}`;

/** Ranges named in a line; the line counts the others. */
const mostRanges = 6;

/** Ranges in words: `batches 10 to 14, 20 and 9 more`. */
export function placesText(
  unit: Place['unit'],
  places: readonly Pick<Place, 'from' | 'to'>[],
): string {
  const [first] = places;
  const isOne = places.length === 1 && first?.from === first?.to;
  const named = places
    .slice(0, mostRanges)
    .map(({ from, to }) => (from === to ? whole(from) : `${whole(from)} to ${whole(to)}`));
  const rest = places.length - named.length;
  const noun = isOne ? { blocks: 'block', batches: 'batch' }[unit] : unit;
  return `${noun} ${named.join(', ')}${rest > 0 ? ` and ${whole(rest)} more` : ''}`;
}
