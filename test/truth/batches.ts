import { batchRange, listedAtMs } from '../../simulator/batches.ts';
import { blockAt, blockHash, type Block } from '../../simulator/blocks.ts';
import { reorgsBetween, reorgsOf } from '../../simulator/motion.ts';
import { lacksHash, type World } from '../../simulator/world.ts';
import type { Observations, Row } from './addresses.ts';

/** An instant as rows hold it; null for none. */
export const isoOf = (instantMs: number | null): string | null =>
  instantMs === null ? null : new Date(instantMs).toISOString();

/** A batch and its blocks, heights descending. */
export interface ScopedBatch {
  readonly number: number;
  readonly blocks: readonly Block[];
}

/** The blocks of a batch, heights descending; none where there is no such batch. */
export function blocksInScope(world: World, number: number, atMs: number): Block[] {
  const range = batchRange(world, number, atMs);
  if (range === null) return [];
  const { lowest, highest } = range;
  return Array.from({ length: highest - lowest + 1 }, (_, place) =>
    blockAt(world, highest - place, atMs),
  );
}

/** Rows of the batches themselves, and what the chain verifies of them. */
export function batchRows(batches: readonly ScopedBatch[]): Row[] {
  const settled = settledNumbers(batches);
  const empty = verifiedGaps(batches, settled);
  return batches.map(({ number, blocks }) => {
    const kept = blocks.filter((block) => !block.lacksHash);
    const [top, bottom] = [kept[0], kept.at(-1)];
    if (top === undefined || bottom === undefined) return emptyBatchRow(number, empty.has(number));
    return {
      batch_number: number,
      state: settled.has(number) ? 'settled' : 'open',
      blocks_count: kept.length,
      first_height: bottom.height,
      last_height: top.height,
      is_contiguous: top.height - bottom.height + 1 === kept.length,
      is_linked: kept.every((block, place) => {
        const below = kept[place + 1];
        return below === undefined || block.parentHash === below.hash;
      }),
      is_verified: settled.has(number),
    };
  });
}

function emptyBatchRow(number: number, isVerified: boolean): Row {
  return {
    batch_number: number,
    state: 'empty',
    blocks_count: 0,
    first_height: null,
    last_height: null,
    is_contiguous: null,
    is_linked: null,
    is_verified: isVerified,
  };
}

/** Rows of the blocks and of their lists; notes the miners. */
export function blockRows(batches: readonly ScopedBatch[], observations: Observations) {
  const kept = batches.flatMap(({ number, blocks }) =>
    blocks.filter((block) => !block.lacksHash).map((block) => ({ number, block })),
  );
  for (const { block } of kept) observations.see(block.minerHash, 'miner');
  return {
    blocks: kept.map(({ number, block }) => blockRow(number, block)),
    block_rewards: kept.flatMap(({ block }) =>
      block.rewards.map(({ reward, type, addressHash }, position): Row => ({
        block_height: block.height,
        position,
        reward,
        type,
        address_hash: addressHash,
      })),
    ),
    block_uncles: kept.flatMap(({ block }) =>
      block.uncles.map((hash, position): Row => ({ block_height: block.height, position, hash })),
    ),
    block_arbitrum: kept.flatMap(({ block }) => arbitrumRows(block)),
  };
}

function blockRow(batchNumber: number, block: Block): Row {
  return {
    height: block.height,
    hash: block.hash,
    parent_hash: block.parentHash,
    ...block.fields,
    type: 'block',
    timestamp: new Date(block.timestampMs).toISOString(),
    miner_hash: block.minerHash,
    internal_transactions_count: null,
    withdrawals_count: null,
    optimism_batch_number: batchNumber,
    extra: block.extra,
  };
}

function arbitrumRows({ height, arbitrum }: Block): Row[] {
  if (arbitrum === null) return [];
  const { commitment, confirmation } = arbitrum;
  return [
    {
      block_height: height,
      ...arbitrum.fields,
      commitment_transaction_hash: commitment.hash,
      commitment_transaction_status: commitment.status,
      commitment_transaction_timestamp: isoOf(commitment.timestampMs),
      confirmation_transaction_hash: confirmation.hash,
      confirmation_transaction_status: confirmation.status,
      confirmation_transaction_timestamp: isoOf(confirmation.timestampMs),
    },
  ];
}

/** A row for each hash that was replaced while the explorer listed it. */
export function reorgRows(world: World, batches: readonly ScopedBatch[], atMs: number): Row[] {
  const { course } = world;
  const listed = new Set(batches.flatMap(({ blocks }) => blocks.map(({ height }) => height)));
  return reorgsBetween(course, 0, atMs).flatMap((reorg) => {
    const heights = Array.from(
      { length: reorg.highest - reorg.lowest + 1 },
      (_, place) => reorg.lowest + place,
    );
    return heights
      .filter((height) => listed.has(height) && !lacksHash(world, height))
      .filter((height) => listedAtMs(world, height) < reorg.atMs)
      .map((height) => {
        const edition = reorgsOf(course, height, reorg.atMs).length;
        return {
          height,
          old_hash: blockHash(world, height, edition - 1),
          new_hash: blockHash(world, height, edition),
        };
      });
  });
}

/**
 * The numbers of the batches that the chain verifies whole: heights contiguous and linked by hash,
 * within and to the nearest batches that are not empty, and no block pending. The lowest batch has
 * none below to meet; the highest waits for one above.
 */
function settledNumbers(batches: readonly ScopedBatch[]): ReadonlySet<number> {
  const full = fullBatches(batches);
  const settled = full.filter(({ blocks }, place) => {
    const [below, above] = [full[place - 1], full[place + 1]];
    return (
      above !== undefined &&
      isChained([
        ...above.blocks.slice(-1),
        ...blocks,
        ...(below === undefined ? [] : below.blocks.slice(0, 1)),
      ]) &&
      blocks.every(({ fields }) => fields.is_pending_update !== true)
    );
  });
  return new Set(settled.map(({ number }) => number));
}

/** The empty numbers between batches that meet, and those below a lowest one that is settled. */
function verifiedGaps(
  batches: readonly ScopedBatch[],
  settled: ReadonlySet<number>,
): ReadonlySet<number> {
  const full = fullBatches(batches);
  const gaps = batches.filter(({ number }) => !full.some((other) => other.number === number));
  const verified = gaps.filter(({ number }) => {
    const below = full.findLast((other) => other.number < number);
    const above = full.find((other) => other.number > number);
    if (above === undefined) return false;
    if (below === undefined) return settled.has(above.number);
    return isChained([...above.blocks.slice(-1), ...below.blocks.slice(0, 1)]);
  });
  return new Set(verified.map(({ number }) => number));
}

/** Batches with the blocks that can be rows. */
function fullBatches(batches: readonly ScopedBatch[]): ScopedBatch[] {
  return batches
    .map(({ number, blocks }) => ({ number, blocks: blocks.filter((block) => !block.lacksHash) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** Whether each block, heights descending, follows the next. */
function isChained(blocks: readonly Block[]): boolean {
  return blocks.every((block, place) => {
    const below = blocks[place + 1];
    if (below === undefined) return true;
    return block.height === below.height + 1 && block.parentHash === below.hash;
  });
}
