import { refuseParameters, type Answer } from './answer.ts';
import { batchRange, newestNumber } from './batches.ts';
import type { World } from './chain.ts';
import { instantOf, printInstant } from './instant.ts';
import { wrapPage } from './oddities.ts';
import { countedCursor, countedSize, readParameters } from './parameters.ts';
import { Random } from './random.ts';

/** A batch as the list of batches tells of it. */
export interface ListedBatch {
  readonly number: number;
  readonly timestampMs: number;
  readonly l1Transactions: readonly string[];
  readonly container: string | null;
  readonly start: number;
  readonly end: number;
  readonly transactions: number;
}

/** A block of L1. */
const slotMs = 12_000;

const containers = [
  'in_blob4844',
  'in_celestia',
  'in_eigenda',
  'in_alt_da',
  'in_calldata',
] as const;

/** A page of the batches, highest number first. */
export function answerBatches(world: World, query: URLSearchParams, atMs: number): Answer {
  const parameters = readParameters(query, ['id', 'items_count']);
  const below = parameters.integer('id', 0, Number.MAX_SAFE_INTEGER);
  const asked = parameters.integer('items_count', 1, Number.MAX_SAFE_INTEGER);
  if (parameters.problems.length > 0) return refuseParameters(parameters.problems);
  const { generation } = world.chain;
  const size = countedSize(generation, asked);
  // One more than the page holds: whether there is one says whether the list goes on.
  const found = [...batchesBelow(world, below ?? Infinity, atMs, size + 1)];
  const served = found.slice(0, size);
  const last = found.length > size ? served.at(-1) : undefined;
  const next =
    last === undefined ? null : countedCursor(generation, { id: last.number }, served.length);
  const items = served.map((batch) => renderBatch(world, batch));
  const key = parameters.text('key');
  return { status: 200, body: wrapPage(world, items, next, key), items: items.length };
}

/** All batches that are listed at a time, highest number first. */
export const listedBatches = (world: World, atMs: number): readonly ListedBatch[] => [
  ...batchesBelow(world, Infinity, atMs, Infinity),
];

/** A batch that fills is not listed: it is posted when the next one begins. */
function* batchesBelow(world: World, below: number, atMs: number, most: number) {
  const newest = newestNumber(world, atMs) - (world.course === null ? 0 : 1);
  let left = most;
  let number = Math.min(below - 1, newest);
  for (; left > 0 && number >= world.chain.batches.first; number -= 1) {
    const batch = batchAt(world, number, atMs);
    if (batch === null || batch.timestampMs > (world.lived?.timetable.endMs ?? Infinity)) continue;
    left -= 1;
    yield batch;
  }
}

function batchAt(world: World, number: number, atMs: number): ListedBatch | null {
  const range = batchRange(world, number, atMs);
  if (range === null) return null;
  const { lowest, highest } = range;
  const random = new Random(world.streams['listed-batch'], number);
  const lastMs = instantOf(world, highest, random.below(1000));
  return {
    number,
    l1Transactions: Array.from({ length: 1 + random.below(3) }, () => random.hex(8)),
    container: drawContainer(world, random),
    start: lowest,
    end: highest,
    transactions: (highest - lowest + 1) * (1 + random.below(20)),
    timestampMs: lastMs + drawDelayMs(world, random),
  };
}

/** With a calendar nearly all go into blobs, and some elsewhere when blobs are dear. */
function drawContainer({ lived }: World, random: Random): string | null {
  if (lived !== null) return random.oneIn(9) ? 'in_calldata' : 'in_blob4844';
  return random.oneIn(9) ? null : random.pick(containers);
}

/** How long after its last block a batch is posted: with a calendar, until some slot of L1. */
function drawDelayMs({ lived }: World, random: Random): number {
  if (lived === null) return 0;
  return slotMs * (1 + random.below(6));
}

function renderBatch({ chain: { generation } }: World, batch: ListedBatch): unknown {
  const l1_timestamp = printInstant(generation, batch.timestampMs);
  const { number, l1Transactions, container, start, end, transactions } = batch;
  if (generation === 'v12') {
    return {
      number,
      l1_timestamp,
      l1_transaction_hashes: l1Transactions,
      batch_data_container: container,
      l2_start_block_number: start,
      l2_end_block_number: end,
      transactions_count: transactions,
    };
  }
  return {
    internal_id: number,
    l1_timestamp,
    l1_tx_hashes: l1Transactions,
    batch_data_container: container,
    l2_block_start: start,
    l2_block_end: end,
    [generation === 'v11' ? 'transaction_count' : 'tx_count']: transactions,
  };
}
