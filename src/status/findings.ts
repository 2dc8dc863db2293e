import { z } from 'zod';
import { operationNames } from '../lists/registry.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** What `verify` finds. The kinds of `openKinds` keep a feed from being complete, the others are notes. */
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

const openKinds: ReadonlySet<Kind> = new Set([
  'gap',
  'unverified',
  'mismatch',
  'quarantine',
  'feed-state',
]);

/** A finding as the database emits it: a code, its place, and what its sentence needs. */
export interface RawFinding {
  readonly detail: string;
  readonly from?: number;
  readonly to?: number;
  readonly count?: number;
  /** How many blocks were downloaded. */
  readonly downloaded?: number;
  /** Ranges of blocks that differ. */
  readonly stored?: Range | null;
  readonly read?: Range | null;
  readonly listed?: Range | null;
  /** The highest verified batch below. */
  readonly verified_to?: number | null;
  readonly state?: string;
  readonly reason?: string | null;
  /** The first fields or values that differ from the specification. */
  readonly items?: readonly string[];
}

type Range = readonly [from: number, to: number];
/** The command whose walks, or whose list, are about a finding. */
type Remedy = 'repair' | 'sync' | 'quarantine list' | null;
type Sentence = string | ((raw: RawFinding) => string);

/** Every code that the database emits: its kind, what fixes it, and its sentence, which follows the place. */
const details: Readonly<Record<string, readonly [Kind, Remedy, Sentence]>> = {
  'not-downloaded': ['gap', 'repair', 'not downloaded'],
  'no-batch-found': ['gap', 'sync', 'the newest batch is not found yet'],
  'listed-without-blocks': ['gap', 'sync', 'listed, but without blocks'],

  'no-evidence': ['unverified', 'repair', 'nothing is verified'],
  'no-coverage': ['unverified', 'repair', 'nothing is verified: no range is covered yet'],
  // Nothing is open of the batches that were read: one has to be found.
  'no-verified-batch': ['unverified', 'sync', 'nothing is verified: no batch is verified yet'],
  'no-snapshot': ['unverified', 'repair', 'nothing is verified: no full snapshot yet'],
  'empty-unconfirmed': ['unverified', 'repair', 'downloaded as empty, which no neighbour confirms'],
  'not-linked': ['unverified', 'repair', 'heights or hashes inside do not link'],
  'border-not-linked': ['unverified', 'repair', 'heights or hashes do not link at the border'],
  'awaits-update': ['unverified', 'repair', (raw) => `${blocks(raw)} to be updated by the service`],
  'without-parents': ['unverified', 'repair', (raw) => `${blocks(raw)} without a parent hash`],
  'ends-early': ['unverified', 'repair', 'the list ended above the lowest block'],
  'never-read-whole': ['unverified', 'repair', 'never read in order and to the end'],
  'not-verified': ['unverified', 'repair', 'not confirmed by the batches around'],
  'head-too-long': ['unverified', 'repair', headTooLong],
  'verified-awaits-update': [
    'unverified',
    'repair',
    (raw) => `verified, but ${blocks(raw)} to be updated by the service`,
  ],

  'block-count-differs': [
    'mismatch',
    'repair',
    (raw) => `${blocks(raw)} stored, ${whole(raw.downloaded ?? 0)} downloaded`,
  ],
  'block-range-differs': [
    'mismatch',
    'repair',
    ({ stored, read }) => `blocks ${rangeText(stored)} stored, ${rangeText(read)} downloaded`,
  ],
  'verified-not-linked': [
    'mismatch',
    'repair',
    (raw) => `${blocks(raw)} not linked to the one below, though verified before`,
  ],
  'listed-range-differs': [
    'mismatch',
    'repair',
    ({ read, listed }) =>
      `blocks ${rangeText(read)} downloaded, ${rangeText(listed)} in the list of batches`,
  ],
  'listed-not-empty': [
    'mismatch',
    'repair',
    ({ listed }) => `downloaded as empty, blocks ${rangeText(listed)} in the list of batches`,
  ],
  'totals-differ': ['mismatch', 'repair', 'stored totals differ from the walks'],

  quarantine: [
    'quarantine',
    'quarantine list',
    ({ count = 0 }) => `${counted(count, 'item')} in quarantine`,
  ],
  // The reason says what is wrong; a run that goes well ends it.
  'feed-state': [
    'feed-state',
    'sync',
    ({ state, reason }) => `${state}${reason === null ? '' : `: ${reason}`}`,
  ],

  'waits-for-blocks': ['pending-head', null, 'waiting for the rest of the blocks'],
  'waits-for-update': ['pending-head', null, 'waiting for an update by the service'],
  'waits-for-lowest-blocks': [
    'pending-head',
    null,
    'waiting for a second read of the lowest blocks',
  ],
  'waits-for-next-batch': ['pending-head', null, 'waiting for the next batch'],

  'rows-moved': [
    'caveat',
    null,
    ({ count = 0 }) =>
      `rows still moved in the last of ${counted(count, 'read')}: one that moved up may be missing`,
  ],
  'part-skipped': ['caveat', null, 'an empty page skipped a part: the previous snapshot stays'],
  'empty-list': ['caveat', null, 'the list was empty: the previous snapshot stays'],
  'items-dropped': [
    'caveat',
    null,
    ({ count = 0 }) => `not stored: ${counted(count, 'item')} dropped from quarantine`,
  ],
  'lower-edge': ['caveat', null, lowerEdge],

  'new-field': ['schema-drift', null, differing('unknown field', 'stored in extra')],
  'vanished-field': ['schema-drift', null, differing('field', 'missing from every item')],
  'mistyped-field': [
    'schema-drift',
    null,
    differing('field', 'of another type, stored in extra unless null'),
  ],
  'malformed-field': [
    'schema-drift',
    null,
    differing('field', 'of another format, stored in extra'),
  ],
  'new-value': ['schema-drift', null, differing('unknown value', 'stored as it is')],
};

const blocks = ({ count = 0 }: RawFinding): string => counted(count, 'block');

const rangeText = (range: Range | null | undefined): string =>
  range ? `${whole(range[0])} to ${whole(range[1])}` : 'none';

function headTooLong({ count = 0, verified_to }: RawFinding): string {
  return verified_to === null
    ? 'none of them is verified'
    : `${whole(count)} not verified above the highest verified one`;
}

function lowerEdge({ count = 0 }: RawFinding): string {
  const below = count === 0 ? '' : `; ${counted(count, 'empty number')} below, not confirmed`;
  return `complete; lower edge unverified (previous batch not downloaded)${below}`;
}

function differing(what: string, how: string): Sentence {
  return ({ count = 0, items = [] }) => {
    const rest = count - items.length;
    return `${counted(count, what)} ${how}: ${items.join(', ')}${rest > 0 ? ` and ${whole(rest)} more` : ''}`;
  };
}

/** Of which feed a finding is, and what the places of its list count; null: it has none, or they are unknown. */
export interface FindingSource {
  readonly chain_id: number;
  readonly operation: string;
  readonly unit: Place['unit'] | null;
}

/**
 * A finding of a feed, from what the database emits. A newer version may have written a code that this one does
 * not know: its sentence is then what the database says, and it is of the kind that is given.
 */
export function findingOf(raw: RawFinding, feed: FindingSource, unknownKind: Kind): Finding {
  const { detail, from, to, count = null } = raw;
  const place =
    from === undefined || to === undefined || feed.unit === null
      ? null
      : { unit: feed.unit, from, to };
  const known = Object.hasOwn(details, detail) ? details[detail] : undefined;
  if (known === undefined) {
    return { kind: unknownKind, place, sentence: asItIs(raw), command: null, count };
  }
  const [kind, remedy, says] = known;
  const sentence = typeof says === 'string' ? says : says(raw);
  return { kind, place, sentence, command: commandOf(remedy, feed), count };
}

const asItIs = (raw: RawFinding): string => JSON.stringify(raw);

/** Null: this version has no command for the list. */
function commandOf(remedy: Remedy, { chain_id, operation }: FindingSource): string | null {
  const isKnown = operationNames.some((name) => name === operation);
  return remedy === null || !isKnown
    ? null
    : `explorer-etl ${remedy} --chain ${chain_id} --operation ${operation}`;
}

/** The command that downloads what is open of a feed. */
export const repairCommand = (feed: Pick<FindingSource, 'chain_id' | 'operation'>): string =>
  `explorer-etl repair --chain ${feed.chain_id} --operation ${feed.operation}`;

/** Whether a finding keeps its feed from being complete. */
export const isOpen = ({ kind }: Finding): boolean => openKinds.has(kind);

/** A finding as one line for people. */
export const findingText = ({ place, sentence }: Finding): string =>
  place === null ? sentence : `${placesText(place.unit, [place])}: ${sentence}`;

/** Ranges that are named in a line; the rest is counted. */
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
