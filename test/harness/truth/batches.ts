import { batchRange } from '../../../simulator/batches.ts';
import { blockAt, type Block } from '../../../simulator/blocks.ts';
import type { World } from '../../../simulator/world.ts';
import { isoOf, type Row } from './row.ts';
import type { Observations } from './observations.ts';
import { verifiedGaps, settledNumbers } from './settled.ts';

/** Tables that the blocks of batches fill. */
export type BatchTable =
  'blocks' | 'block_rewards' | 'block_uncles' | 'block_arbitrum' | 'read_batches';

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
export function blockRows(
  batches: readonly ScopedBatch[],
  observations: Observations,
): Record<Exclude<BatchTable, 'read_batches'>, Row[]> {
  const kept = batches.flatMap(({ number, blocks }) =>
    blocks.filter((block) => !block.lacksHash).map((block) => ({ number, block })),
  );
  for (const { block } of kept) observations.see(block.minerHash, 'miner');
  return {
    blocks: kept.map(({ number, block }) => blockRow(number, block)),
    block_rewards: kept.flatMap(({ block }) =>
      block.rewards.map(({ reward, type, addressHash }, position) => ({
        block_height: block.height,
        position,
        reward,
        type,
        address_hash: addressHash,
      })),
    ),
    block_uncles: kept.flatMap(({ block }) =>
      block.uncles.map((hash, position) => ({ block_height: block.height, position, hash })),
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
