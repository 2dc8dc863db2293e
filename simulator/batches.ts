import { listOf } from './directory.ts';
import { headAt, minedAtMs, type Course } from './motion.ts';
import { blocksBefore, numberOf, slotAtPlace, slotOf, slotsBefore } from './numbering.ts';
import type { CountedList } from './pages.ts';
import type { Random } from './random.ts';
import { instantOf, printInstant, type World } from './world.ts';

/** The heights of a batch, both ends included. */
export interface HeightRange {
  readonly lowest: number;
  readonly highest: number;
}

/**
 * The heights that a batch shows at a time, or null if it shows none: a hole, a number below or
 * above, one that has vanished.
 */
export function batchRange(world: World, number: number, atMs: number): HeightRange | null {
  const { first, count } = world.chain.batches;
  if (world.course === null && number >= first + count) return null;
  const slot = slotOf(world.numbering, number);
  if (slot === null) return null;
  const range = rangeAt(world, slot, atMs);
  return range.highest < range.lowest ? null : range;
}

/** The highest number that shows blocks at a time; below the first if none does. */
export function newestNumber(world: World, atMs: number): number {
  const { course, numbering, chain } = world;
  const { first, count } = chain.batches;
  if (course === null) return first + count - 1;
  const head = headAt(course, atMs);
  if (head < course.batchesFloor) return first - 1;
  const slot = slotAtPlace(chain.batches.blocks, head - course.batchesFloor);
  const above = slot + 1;
  const shown = rangeAt(world, above, atMs);
  return numberOf(numbering, shown.highest < shown.lowest ? slot : above);
}

/** The lowest height of the newest batch of a chain that rests. */
export function newestBatchFloor(world: World): number {
  const { first, count } = world.chain.batches;
  return rangeOfSlot(world, slotsBefore(world.numbering, first + count) - 1).lowest;
}

/** When the explorer came to list a block: when it was mined, or later in a half-imported batch. */
export function listedAtMs(world: World, course: Course, height: number): number {
  const mined = minedAtMs(course, height);
  if (height < course.batchesFloor) return mined;
  const slot = slotAtPlace(world.chain.batches.blocks, height - course.batchesFloor);
  const fate = fateOf(world, course, slot);
  const isHeldBack =
    fate?.kind === 'half-imported' &&
    slot === lowerSlot(slot) &&
    height > middleOf(rangeOfSlot(world, slot));
  return isHeldBack ? Math.max(mined, fate.turnsAtMs) : mined;
}

function rangeAt(world: World, slot: number, atMs: number): HeightRange {
  const { course } = world;
  if (course === null) return rangeOfSlot(world, slot);
  const fate = fateOf(world, course, slot);
  const range = fate === null ? rangeOfSlot(world, slot) : fatedRange(world, slot, fate, atMs);
  return { lowest: range.lowest, highest: Math.min(range.highest, headAt(course, atMs)) };
}

function fatedRange(world: World, slot: number, fate: Fate, atMs: number): HeightRange {
  const isLower = slot === lowerSlot(slot);
  const own = rangeOfSlot(world, slot);
  const hasTurned = atMs >= fate.turnsAtMs;
  const both = () => ({ ...own, lowest: rangeOfSlot(world, slot - 1).lowest });
  const nothing = { lowest: own.lowest, highest: own.lowest - 1 };
  switch (fate.kind) {
    case 'half-imported':
      return isLower && !hasTurned ? { ...own, highest: middleOf(own) } : own;
    case 'traded':
      if (!hasTurned) return own;
      return isLower
        ? { ...own, highest: own.highest - fate.blocks }
        : { ...own, lowest: own.lowest - fate.blocks };
    case 'vanished':
      if (!hasTurned) return own;
      return isLower ? nothing : both();
    case 'reused':
      if (hasTurned) return own;
      return isLower ? nothing : both();
  }
}

function middleOf({ lowest, highest }: HeightRange): number {
  return Math.floor((lowest + highest) / 2);
}

function rangeOfSlot({ chain, batchesFloor }: World, slot: number): HeightRange {
  const { blocks } = chain.batches;
  return {
    lowest: batchesFloor + blocksBefore(blocks, slot),
    highest: batchesFloor + blocksBefore(blocks, slot + 1) - 1,
  };
}

/**
 * What happens to a pair of batches, an even slot and the one above, at its turning point:
 * - half-imported: the lower one shows only its lower half until then;
 * - traded: `blocks` blocks at their border go to the upper one, or, if negative, to the lower;
 * - vanished: the lower one's number becomes a hole, and its blocks go to the upper one;
 * - reused: until then the upper number held the lower one's blocks, and the lower was a hole.
 */
interface Fate {
  readonly kind: (typeof kinds)[number];
  readonly turnsAtMs: number;
  readonly blocks: number;
}

const kinds = ['half-imported', 'traded', 'vanished', 'reused'] as const;

/** Few, as when a border was drawn wrongly. */
const mostTraded = 3;

/** The slot below the border that a fate is about. */
function lowerSlot(slot: number): number {
  return slot - (slot % 2);
}

/** The fate of the pair that a slot belongs to, or null if nothing is odd about it. */
function fateOf(world: World, course: Course, slot: number): Fate | null {
  const lower = lowerSlot(slot);
  const random = world.draw('batch-fate', lower);
  // Drawn for pairs, so twice as often for half as many.
  if (random.below(100_000) >= course.oddBatchesPercent * 2000) return null;
  const top = course.batchesFloor + blocksBefore(world.chain.batches.blocks, lower + 1);
  const traded = (1 + random.below(mostTraded)) * (random.oneIn(2) ? 1 : -1);
  // While the newest blocks below the border are pending: nothing odd happens to proved batches.
  const delay = 0.2 + random.below(600) / 1000;
  return {
    kind: random.pick(kinds),
    turnsAtMs: minedAtMs(course, top) + Math.floor(course.pendingMs * delay),
    blocks: traded,
  };
}

/** A batch as the list of batches shows it. */
export type ListedBatch = NonNullable<ReturnType<typeof batchAt>>;

/** A block of L1. */
const slotMs = 12_000;

const containers = listOf('in_blob4844, in_celestia, in_eigenda, in_alt_da, in_calldata');

/** The batches at a time, highest number first. */
export const listBatches = (world: World, atMs: number): CountedList<ListedBatch> => ({
  cursor: 'id',
  numberOf: ({ number }) => number,
  below: (number, length) => [...batchesBelow(world, number, atMs, length)],
  served: (batches) => batches,
  render: (batch) => renderBatch(world, batch),
});

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

function batchAt(world: World, number: number, atMs: number) {
  const range = batchRange(world, number, atMs);
  if (range === null) return null;
  const { lowest, highest } = range;
  const random = world.draw('listed-batch', number);
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
