import { listOf } from './addresses.ts';
import { headAt, minedAtMs } from './motion.ts';
import { descending, type List } from './pages.ts';
import { blocksBefore, slotAtPlace } from './places.ts';
import { instantOf, printInstant, type World } from './world.ts';

/** The lowest and the highest height that a batch shows at a time, or null if it shows none. */
export function batchRange(world: World, number: number, atMs: number) {
  const slot = world.numbering.slotOf(number);
  if (slot === null) return null;
  const range = rangeAt(world, slot, atMs);
  return range.highest < range.lowest ? null : range;
}

/** The highest number that shows blocks at a time; below the first if none does. */
export function newestNumber(world: World, atMs: number): number {
  const { course, numbering, chain } = world;
  const { first, count, blocks } = chain.batches;
  if (course.rests) return first + count - 1;
  const head = headAt(course, atMs);
  if (head < course.batchesBottom) return first - 1;
  const slot = slotAtPlace(blocks, head - course.batchesBottom);
  const shown = rangeAt(world, slot + 1, atMs);
  return numbering.numberOf(shown.highest < shown.lowest ? slot : slot + 1);
}

/** When the explorer came to list a block: when it was mined, or later in a half-imported batch. */
export function listedAtMs(world: World, height: number): number {
  const { course } = world;
  const mined = minedAtMs(course, height);
  if (height < course.batchesBottom) return mined;
  const slot = slotAtPlace(world.chain.batches.blocks, height - course.batchesBottom);
  const fate = fateOf(world, slot);
  const isHeldBack = fate?.kind === 'half-imported' && slot === fate.lower && height > fate.oddTop;
  return isHeldBack ? Math.max(mined, fate.turnsAtMs) : mined;
}

function rangeAt(world: World, slot: number, atMs: number) {
  const { course } = world;
  const { lowest, highest } = rangeOfSlot(world, slot);
  const head = headAt(course, atMs);
  const fate = fateOf(world, slot);
  const isOdd =
    fate !== null &&
    atMs >= fate.turnsAtMs === (fate.kind === 'traded' || fate.kind === 'vanished');
  if (!isOdd) return { lowest, highest: Math.min(highest, head) };
  if (slot === fate.lower) return { lowest, highest: Math.min(fate.oddTop, head) };
  const isWhole = fate.kind === 'half-imported';
  return { lowest: isWhole ? lowest : fate.oddTop + 1, highest: Math.min(highest, head) };
}

/** At which height a batch is posted to L1: while the next one fills. */
function postedHeight(world: World, slot: number): number {
  const { lowest, highest } = rangeOfSlot(world, slot + 1);
  const part = 0.2 + 0.8 * world.draw('batch-post', slot).part();
  return lowest + Math.floor((highest - lowest + 1) * part);
}

/** The highest number that is posted at a time; below the first if none is. */
function newestPosted(world: World, atMs: number): number {
  const { chain, course, numbering, restingHead } = world;
  const head = course.rests ? restingHead : headAt(course, atMs);
  let slot = numbering.slotsBefore(newestNumber(world, atMs) + 1) - 1;
  while (slot >= 0 && postedHeight(world, slot) > head) slot -= 1;
  return slot < 0 ? chain.batches.first - 1 : numbering.numberOf(slot);
}

function rangeOfSlot({ chain, course }: World, slot: number) {
  const { blocks } = chain.batches;
  return {
    lowest: course.batchesBottom + blocksBefore(blocks, slot),
    highest: course.batchesBottom + blocksBefore(blocks, slot + 1) - 1,
  };
}

/**
 * What happens to a pair of batches, an even slot and the one above, at its turning point:
 * - half-imported: the lower one shows only its lower half until then;
 * - traded: some blocks at their border go to the upper one, or to the lower;
 * - vanished: the lower one's number holds nothing any more, and its blocks go to the upper one;
 * - reused: until then the upper number held the lower one's blocks, and the lower held nothing.
 */
const kinds = ['half-imported', 'traded', 'vanished', 'reused'] as const;

/** Few, as when a border was drawn wrongly. */
const mostTraded = 3;

/** The fate of the pair that a slot belongs to, or null if nothing is odd about it. */
function fateOf(world: World, slot: number) {
  const { course } = world;
  const lower = slot - (slot % 2);
  const random = world.draw('batch-fate', lower);
  // Drawn for pairs, so twice as often for half as many.
  if (random.below(100_000) >= course.oddBatchesPercent * 2000) return null;
  const { lowest, highest } = rangeOfSlot(world, lower);
  const traded = (1 + random.below(mostTraded)) * (random.oneIn(2) ? 1 : -1);
  // While the newest blocks below the border are pending: nothing odd happens to verified batches.
  const delay = 0.2 + random.below(600) / 1000;
  const turnsAtMs = minedAtMs(course, highest + 1) + Math.floor(course.pendingMs * delay);
  const kind = random.pick(kinds);
  const tops = { 'half-imported': Math.floor((lowest + highest) / 2), traded: highest - traded };
  /** Where the lower one ends while it is odd. */
  const oddTop = kind === 'vanished' || kind === 'reused' ? lowest - 1 : tops[kind];
  return { kind, lower, turnsAtMs, oddTop };
}

/** A batch as the list of batches shows it. */
export type ListedBatch = NonNullable<ReturnType<typeof batchAt>>;

/** The batches at a time, highest number first. */
export const listBatches = (world: World, atMs: number): List<ListedBatch> => ({
  bottom: world.chain.batches.first,
  head: newestPosted(world, atMs),
  spacing: 1,
  between: (lowest, highest) =>
    descending(lowest, highest, (number) => batchAt(world, number, atMs)).filter(
      (batch) => batch !== null,
    ),
  positionOf: ({ ordinal }) => ({ value: ordinal, key: '' }),
  render: (batch) => renderBatch(world, batch),
});

const containers = listOf('in_blob4844, in_celestia, in_eigenda, in_alt_da, in_calldata');

function batchAt(world: World, number: number, atMs: number) {
  const slot = world.numbering.slotOf(number);
  const range = batchRange(world, number, atMs);
  if (slot === null || range === null) return null;
  const { lowest, highest } = range;
  const random = world.draw('listed-batch', number);
  return {
    ordinal: number,
    lacksHash: false,
    timestampMs: instantOf(world, postedHeight(world, slot), random.below(1000)),
    // Under the contract's names.
    fields: {
      number,
      l1_transaction_hashes: Array.from({ length: 1 + random.below(3) }, () => random.hex(8)),
      batch_data_container: random.oneIn(9) ? null : random.pick(containers),
      l2_start_block_number: lowest,
      l2_end_block_number: highest,
      transactions_count: (highest - lowest + 1) * (1 + random.below(20)),
    },
  };
}

/** What older generations call the members of a batch. */
const oldNames: Readonly<Record<string, string>> = {
  number: 'internal_id',
  l1_transaction_hashes: 'l1_tx_hashes',
  l2_start_block_number: 'l2_block_start',
  l2_end_block_number: 'l2_block_end',
  transactions_count: 'transaction_count',
};

function renderBatch(world: World, { timestampMs, fields }: ListedBatch): unknown {
  const { generation } = world.chain;
  const printed = { l1_timestamp: printInstant(world, timestampMs), ...fields };
  if (generation === 'v12') return printed;
  const names = generation === 'v11' ? oldNames : { ...oldNames, transactions_count: 'tx_count' };
  return Object.fromEntries(
    Object.entries(printed).map(([name, value]) => [names[name] ?? name, value]),
  );
}
