import type { HeadFinding, OpenFinding } from '../documents/finding.ts';
import { printable } from '../printable.ts';
import { counted, whole } from '../terminal/numbers.ts';

/** What a finding says, and of which part of the list; null: of all of it. */
export interface Said {
  readonly place: Place | null;
  readonly says: string;
}

/** A part of a list; of a border the two batches on its sides. */
interface Place {
  readonly of: 'blocks' | 'batches' | 'border';
  readonly from: number;
  readonly to: number;
}

/** A finding as one line for people. */
export const findingText = (finding: OpenFinding | HeadFinding): string => {
  const { place, says } = sayFinding(finding);
  return place === null ? says : `${spellPlaces(place.of, [place])}: ${says}`;
};

/** What a finding says. One of a kind that this version does not know is told as it is. */
export function sayFinding(finding: OpenFinding | HeadFinding): Said {
  if ('batch' in finding) return sayBatch(finding);
  switch (finding.kind) {
    case 'gap':
      return ofBlocks(finding, 'a gap, no walk proves it');
    case 'unproved':
      return ofAll(`nothing proves it${lacking[finding.lacks ?? 'unknown']}`);
    case 'no-batch-found':
      return ofAll('no batch was found yet');
    case 'totals-differ':
      return ofAll('what its walks come to is not what is kept of them: repair counts it again');
    case 'quarantine':
      return ofAll(`${counted(finding.items, 'item')} in quarantine`);
    case 'state':
      return ofAll(
        printable(finding.state + (finding.reason === null ? '' : `: ${finding.reason}`)),
      );
    case 'batches-not-read':
      return ofBatches(finding, 'not read');
    case 'batches-without-blocks':
      return ofBatches(finding, 'in the list of batches, but without blocks');
    case 'batches-empty-unproved':
      return ofBatches(finding, 'read as empty, which nothing proves');
    case 'batches-not-settled':
      return ofBatches(
        finding,
        finding.settled_to === null
          ? 'none of them is settled'
          : `${whole(finding.batches)} above the highest settled one`,
      );
    case 'batches-wait':
      return ofBatches(
        finding,
        `${finding.from_batch === finding.to_batch ? 'waits' : 'wait'} for ${awaited[finding.waits_for]}`,
      );
    case 'border-not-linked':
      return {
        place: { of: 'border', from: finding.lower_batch, to: finding.upper_batch },
        says: 'heights or hashes do not meet',
      };
    default:
      finding satisfies never;
      return unknown(finding);
  }
}

/** Findings about one batch. */
type BatchFinding = Extract<OpenFinding, { batch: number }>;

function sayBatch(finding: BatchFinding): Said {
  const { batch: from } = finding;
  const says = describeBatch(finding);
  return says === null ? unknown(finding) : { place: { of: 'batches', from, to: from }, says };
}

function describeBatch(finding: BatchFinding): string | null {
  switch (finding.kind) {
    case 'batch-not-linked':
      return 'heights or hashes inside do not meet';
    case 'batch-ends-early':
      return 'the list ended above the lowest block';
    case 'batch-never-read-whole':
      return 'never read in order and to the end';
    case 'batch-not-settled':
      return 'not settled';
    case 'batch-awaits-update':
      return blocks(finding, 'awaits an update', 'await an update');
    case 'batch-without-parents':
      return blocks(finding, 'tells no parent hash', 'tell no parent hash');
    case 'batch-blocks-differ':
      return `${blocks({ blocks: finding.stored }, 'is stored', 'are stored')}, where ${whole(finding.read)} were read`;
    case 'batch-range-differs': {
      const { read_from_block: from, read_to_block: to } = finding;
      const read = from === null || to === null ? 'none' : range(from, to);
      return `blocks ${range(finding.stored_from_block, finding.stored_to_block)} are stored, where ${read} were read`;
    }
    case 'batch-proved-not-linked':
      return blocks(finding, 'does not follow on the one below', 'do not follow on the one below');
    case 'batch-proved-awaits-update':
      return `${blocks(finding, 'awaits an update', 'await an update')}, though it is proved`;
    case 'batch-list-differs':
      return `blocks ${range(finding.from_block, finding.to_block)}, where the list of batches says ${listed(finding)}`;
    case 'batch-empty-but-listed':
      return `read as empty, where the list of batches says blocks ${listed(finding)}`;
    default:
      finding satisfies never;
      return null;
  }
}

const blocks = (found: { readonly blocks: number }, one: string, others: string) =>
  `${counted(found.blocks, 'block')} ${found.blocks === 1 ? one : others}`;

const range = (from: number, to: number) => `${whole(from)} to ${whole(to)}`;
const listed = (found: { readonly listed_from_block: number; readonly listed_to_block: number }) =>
  range(found.listed_from_block, found.listed_to_block);

const lacking = {
  coverage: ': nothing is covered yet',
  'proved-batch': ': no batch is proved yet',
  ranking: ': no ranking was published yet',
  unknown: '',
} as const;

const awaited = {
  blocks: 'the rest of their blocks',
  update: 'an update',
  'lowest-blocks': 'another read of their lowest blocks',
  'next-batch': 'the next batch',
} as const;

const ofAll = (says: string): Said => ({ place: null, says });

const unknown = (finding: object): Said => ofAll(printable(JSON.stringify(finding)));

const ofBlocks = (
  found: Extract<OpenFinding, { unit: string; from_block: number }>,
  says: string,
): Said => ({ place: { of: found.unit, from: found.from_block, to: found.to_block }, says });

const ofBatches = (
  { from_batch: from, to_batch: to }: { readonly from_batch: number; readonly to_batch: number },
  says: string,
): Said => ({ place: { of: 'batches', from, to }, says });

/** Ranges that are named in a line; the rest is counted. */
const mostRanges = 6;

/** Places in words, in order: `batches 10 to 14, 20 and 9 more`. */
export function spellPlaces(of: Place['of'], places: readonly Pick<Place, 'from' | 'to'>[]) {
  const between = of === 'border' ? 'and' : 'to';
  const [first] = places;
  const isOne = places.length === 1 && first?.from === first?.to;
  const noun =
    of === 'border' ? 'border of batches' : isOne ? { blocks: 'block', batches: 'batch' }[of] : of;
  const named = places
    .slice(0, mostRanges)
    .map(({ from, to }) => (from === to ? whole(from) : `${whole(from)} ${between} ${whole(to)}`));
  const rest = places.length - named.length;
  return `${noun} ${named.join(', ')}${rest > 0 ? ` and ${whole(rest)} more` : ''}`;
}
