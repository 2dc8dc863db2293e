import { z } from 'zod';
import { knownChains } from '../../chains.ts';
import { generational, textOf } from '../../drift/fields.ts';
import { addressHash, embeddedAddress } from '../../load/address.ts';
import { numbered, operation } from '../define.ts';
import { bigInteger, count, flag, hash, height, percentage, text, time } from '../item-rows.ts';
import { belowNumber } from '../positions.ts';
import {
  blockArbitrum,
  blockReorgs,
  blockRewards,
  blocks as table,
  blockUncles,
  readBatches,
} from './tables.ts';

const reward = z.looseObject({
  reward: bigInteger,
  // Free text in older versions, such as "Miner Reward".
  type: text,
  // In the older shape only.
  address_hash: generational(addressHash.nullish()),
});

const anchorTransaction = z
  .looseObject({
    hash: hash.nullish(),
    status: textOf('unfinalized', 'finalized'),
    timestamp: time,
  })
  .nullish();

const arbitrum = z.looseObject({
  batch_number: count,
  commitment_transaction: anchorTransaction,
  confirmation_transaction: anchorTransaction,
  status: textOf('Confirmed on base', 'Sent to base', 'Sealed on rollup', 'Processed on rollup'),
  batch_data_container: textOf(
    'in_blob4844',
    'in_calldata',
    'in_celestia',
    'in_anytrust',
    'in_eigenda',
  ),
  delayed_messages: count,
  l1_block_number: count,
  send_count: count,
  send_root: hash.nullish(),
});

const example = `      # Each batch costs 3 to 29 pages; each poll 1 request, or 3 where a batch is new.
      optimism-batch-blocks:
        schedule: '*/10 * * * *'
        from_batch: 1 # the first one to read
        # to_batch: 100 # the last one; without it the newest is searched and followed
        reread: 2 # newest batches that are read again until verified, 1 page each where nothing is new
        parallel: 4 # batches read at once, within the same rate limit
`;

const absent = `      # optimism-batch-blocks: this chain has no Optimism batches
`;

/** The L2 blocks of one Optimism batch, height descending (spec 4.1, tables 2.3 and 2.3.1). */
export const optimismBatchBlocks = operation({
  name: 'optimism-batch-blocks',
  path: ({ batch }) => `blocks/optimism-batch/${batch}`,
  // Block 0 as a cursor is read by the service as "no cursor" and serves page 1 again, and nothing is
  // below block 1 but block 0, so both mean the end.
  cursor: belowNumber('block_number', 1),
  item: z.looseObject({
    hash,
    height,
    parent_hash: hash.nullish(),
    timestamp: time,
    type: text,
    miner: embeddedAddress.nullish(),
    nonce: text,
    size: count,
    is_pending_update: flag,
    transactions_count: generational(count),
    transaction_count: generational(count, 'transactions_count'),
    tx_count: generational(count, 'transactions_count'),
    internal_transactions_count: count,
    withdrawals_count: count,
    gas_limit: bigInteger,
    gas_used: bigInteger,
    gas_used_percentage: percentage,
    gas_target_percentage: percentage,
    base_fee_per_gas: bigInteger,
    burnt_fees: bigInteger,
    burnt_fees_percentage: percentage,
    priority_fee: bigInteger,
    transaction_fees: bigInteger,
    difficulty: bigInteger,
    total_difficulty: bigInteger,
    rewards: z.array(reward.nullish()).nullish(),
    uncles_hashes: z.array(z.looseObject({ hash: hash.nullish() }).nullish()).nullish(),
    arbitrum: arbitrum.nullish(),
  }),
  table,
  key: ['height'],
  version: ['hash'],
  children: { rewards: blockRewards, uncles_hashes: blockUncles, arbitrum: blockArbitrum },
  concludes: [blockReorgs],
  list: numbered(
    {
      number: 'optimism_batch_number',
      states: readBatches,
      listed: {
        operation: 'optimism-batches',
        first: 'l2_start_block_number',
        last: 'l2_end_block_number',
      },
    },
    { schedule: '*/10 * * * *' },
  ),
  offer: () => 'usual',
  guide: {
    list: 'batch blocks',
    items: 'blocks',
    about: 'Blocks of each Optimism batch.',
    example: (chainId) =>
      knownChains.get(chainId)?.hasOptimismBatches === false ? absent : example,
  },
});
