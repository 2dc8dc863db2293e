import { checksumAddress, printMembers, printNothing, renderMiner } from './addresses.ts';
import { batchRange } from './batches.ts';
import { blockAt, type Arbitrum, type Block, type Reward } from './blocks.ts';
import { addCopies, pageEventsAt, type CountedList } from './pages.ts';
import type { Random } from './random.ts';
import { printInstant, type Generation, type World } from './world.ts';

/** The blocks of a batch at a time, heights descending. */
export function listBlocks(
  world: World,
  batch: number,
  atMs: number,
  withSecretKey: boolean,
): CountedList<Block> {
  const range = batchRange(world, batch, atMs) ?? { lowest: 0, highest: -1 };
  return {
    cursor: 'block_number',
    numberOf: ({ height }) => height,
    below(before, length) {
      // A cursor of 0 is read as no cursor.
      const highest = Math.min(range.highest, (before || Infinity) - 1);
      const count = Math.max(0, Math.min(length, highest - range.lowest + 1));
      return Array.from({ length: count }, (_, place) => blockAt(world, highest - place, atMs));
    },
    served(blocks) {
      const highest = blocks[0]?.height ?? range.highest;
      const above = highest < range.highest ? blockAt(world, highest + 1, atMs) : undefined;
      return addCopies(blocks, above, pageEventsAt(world, highest));
    },
    render: (block) => renderBlock(world, block, withSecretKey),
  };
}

/** A block as the chain's generation prints it. */
function renderBlock(world: World, block: Block, withSecretKey: boolean): unknown {
  const { generation } = world.chain;
  const shape = world.draw('block-shape', block.height);
  const { nonce, size, transactions_count, is_pending_update, ...fields } = block.fields;
  return {
    height: block.height,
    ...(block.lacksHash ? {} : { hash: block.hash }),
    parent_hash: block.parentHash,
    timestamp: printInstant(generation, block.timestampMs),
    type: 'block',
    nonce,
    size: size ?? printNothing(shape),
    miner: renderMiner(world, block.minerHash, withSecretKey, shape),
    internal_transactions_count: null,
    withdrawals_count: null,
    [countName(generation, shape)]: transactions_count,
    ...printMembers(fields, shape),
    is_pending_update: is_pending_update ?? printNothing(shape),
    rewards: block.rewards.map((reward) => renderReward(generation, reward)),
    uncles_hashes: block.uncles.map((hash) => ({ hash })),
    arbitrum:
      block.arbitrum === null
        ? printNothing(shape)
        : renderArbitrum(generation, block.arbitrum, shape),
    ...block.extra,
  };
}

function countName(generation: Generation, shape: Random): string {
  if (generation !== 'v10') return 'transactions_count';
  return shape.oneIn(3) ? 'tx_count' : 'transaction_count';
}

function renderReward(generation: Generation, { reward, type, addressHash }: Reward): unknown {
  if (generation !== 'v10') return { reward, type };
  return { reward, type, address_hash: addressHash === null ? null : checksumAddress(addressHash) };
}

function renderArbitrum(
  generation: Generation,
  { fields, commitment, confirmation }: Arbitrum,
  shape: Random,
): unknown {
  const transaction = ({ hash, status, timestampMs }: Arbitrum['commitment']) => {
    const isEmpty = hash === null && status === null && timestampMs === null;
    if (isEmpty && shape.oneIn(2)) return printNothing(shape);
    const timestamp = timestampMs === null ? null : printInstant(generation, timestampMs);
    return printMembers({ hash, status, timestamp }, shape);
  };
  return {
    ...printMembers(fields, shape),
    commitment_transaction: transaction(commitment),
    confirmation_transaction: transaction(confirmation),
  };
}
