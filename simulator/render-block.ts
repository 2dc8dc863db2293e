import type { ArbitrumFacts, L1Transaction } from './arbitrum.ts';
import type { Block, Reward } from './blocks.ts';
import { checksumAddress } from './checksum.ts';
import type { Generation, World } from './chain.ts';
import { printInstant } from './instant.ts';
import { Random } from './random.ts';
import { printNothing, renderMiner } from './render-address.ts';

/** A block as the chain's generation prints it. */
export function renderBlock(world: World, block: Block, withSecretKey: boolean): unknown {
  const { generation } = world.chain;
  const shape = new Random(world.streams['block-shape'], block.height);
  return {
    height: block.height,
    ...(block.lacksHash ? {} : { hash: block.hash }),
    parent_hash: block.parentHash,
    timestamp: printInstant(generation, block.timestampMs),
    type: 'block',
    nonce: block.nonce,
    size: block.size ?? printNothing(shape),
    miner: renderMiner(world, block.minerHash, withSecretKey, shape),
    ...renderCounts(generation, block, shape),
    ...renderGas(block, shape),
    ...renderFees(block, shape),
    is_pending_update: block.isPendingUpdate ?? printNothing(shape),
    rewards: block.rewards.map((reward) => renderReward(generation, reward)),
    uncles_hashes: block.uncles.map((hash) => ({ hash })),
    arbitrum:
      block.arbitrum === null
        ? printNothing(shape)
        : renderArbitrum(generation, block.arbitrum, shape),
    ...block.extra,
  };
}

function renderCounts(generation: Generation, block: Block, shape: Random) {
  return {
    internal_transactions_count: null,
    withdrawals_count: null,
    [countName(generation, shape)]: block.transactionsCount,
  };
}

function countName(generation: Generation, shape: Random): string {
  if (generation !== 'v10') return 'transactions_count';
  return shape.oneIn(3) ? 'tx_count' : 'transaction_count';
}

function renderGas(block: Block, shape: Random) {
  return {
    gas_limit: block.gasLimit,
    gas_used: block.gasUsed,
    gas_used_percentage: block.gasUsedPercentage,
    gas_target_percentage: block.gasTargetPercentage,
    difficulty: block.difficulty ?? printNothing(shape),
    total_difficulty: block.totalDifficulty ?? printNothing(shape),
  };
}

function renderFees(block: Block, shape: Random) {
  return {
    base_fee_per_gas: block.baseFeePerGas ?? printNothing(shape),
    burnt_fees: block.burntFees ?? printNothing(shape),
    burnt_fees_percentage: block.burntFeesPercentage ?? printNothing(shape),
    priority_fee: block.priorityFee ?? printNothing(shape),
    transaction_fees: block.transactionFees,
  };
}

function renderReward(generation: Generation, { reward, type, addressHash }: Reward): unknown {
  if (generation !== 'v10') return { reward, type };
  return { reward, type, address_hash: addressHash === null ? null : checksumAddress(addressHash) };
}

function renderArbitrum(generation: Generation, facts: ArbitrumFacts, shape: Random): unknown {
  return {
    status: facts.status,
    batch_number: facts.batchNumber ?? printNothing(shape),
    batch_data_container: facts.batchDataContainer ?? printNothing(shape),
    delayed_messages: facts.delayedMessages ?? printNothing(shape),
    l1_block_number: facts.l1BlockNumber ?? printNothing(shape),
    send_count: facts.sendCount ?? printNothing(shape),
    send_root: facts.sendRoot ?? printNothing(shape),
    commitment_transaction: renderTransaction(generation, facts.commitment, shape),
    confirmation_transaction: renderTransaction(generation, facts.confirmation, shape),
  };
}

function renderTransaction(generation: Generation, transaction: L1Transaction, shape: Random) {
  const { hash, status, timestampMs } = transaction;
  const isEmpty = hash === null && status === null && timestampMs === null;
  if (isEmpty && shape.oneIn(2)) return printNothing(shape);
  return {
    hash: hash ?? printNothing(shape),
    status: status ?? printNothing(shape),
    timestamp: timestampMs === null ? printNothing(shape) : printInstant(generation, timestampMs),
  };
}
