import { sql } from 'drizzle-orm';
import {
  boolean,
  doublePrecision,
  foreignKey,
  index,
  jsonb,
  type PgColumn,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { knownChains } from '../../chains.ts';
import {
  bigNumber,
  explorerSchema,
  hexText,
  instant,
  integer,
  provenance,
} from '../../db/column-types.ts';
import { generational, textOf } from '../../drift/fields.ts';
import { addressHash, embeddedAddress } from '../../load/address.ts';
import { batchStates, numbered, operation } from '../define.ts';
import { bigInteger, count, flag, hash, height, percentage, anyText, time } from '../item-rows.ts';
import { belowNumber } from '../positions.ts';

export const blocks = explorerSchema.table(
  'blocks',
  {
    chain_id: integer('chain_id').notNull(),
    height: integer('height').notNull(),
    hash: hexText('hash').notNull(),
    parent_hash: hexText('parent_hash'),
    timestamp: instant('timestamp'),
    type: text('type'),
    miner_hash: hexText('miner_hash'),
    nonce: text('nonce'),
    size: integer('size'),
    is_pending_update: boolean('is_pending_update'),
    transactions_count: integer('transactions_count'),
    internal_transactions_count: integer('internal_transactions_count'),
    withdrawals_count: integer('withdrawals_count'),
    gas_limit: bigNumber('gas_limit'),
    gas_used: bigNumber('gas_used'),
    gas_used_percentage: doublePrecision('gas_used_percentage'),
    gas_target_percentage: doublePrecision('gas_target_percentage'),
    base_fee_per_gas: bigNumber('base_fee_per_gas'),
    burnt_fees: bigNumber('burnt_fees'),
    burnt_fees_percentage: doublePrecision('burnt_fees_percentage'),
    priority_fee: bigNumber('priority_fee'),
    transaction_fees: bigNumber('transaction_fees'),
    difficulty: bigNumber('difficulty'),
    total_difficulty: bigNumber('total_difficulty'),
    optimism_batch_number: integer('optimism_batch_number'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.height] }),
    // The chain comes last: until the table is analysed, the planner rates an index that begins
    // like the primary key equal to it, and a lookup by key then reads a whole chain.
    index('blocks_hash').on(table.hash, table.chain_id),
    index('blocks_optimism_batch_number').on(table.optimism_batch_number, table.chain_id),
    index('blocks_timestamp').on(table.timestamp, table.chain_id),
    index('blocks_updated_at').using('brin', table.updated_at).with({ autosummarize: true }),
    index('blocks_page').using('brin', table.page_id).with({ autosummarize: true }),
    // Few at any time, and requested at the end of each walk.
    index('blocks_pending')
      .on(table.optimism_batch_number, table.chain_id)
      .where(sql`is_pending_update`),
  ],
);

/** A part of a block is deleted with it. */
const livesWithBlock = (table: { chain_id: PgColumn; block_height: PgColumn }) =>
  foreignKey({
    columns: [table.chain_id, table.block_height],
    foreignColumns: [blocks.chain_id, blocks.height],
  }).onDelete('cascade');

const partKey = () => ({
  chain_id: integer('chain_id').notNull(),
  block_height: integer('block_height').notNull(),
});

export const blockRewards = explorerSchema.table(
  'block_rewards',
  {
    ...partKey(),
    position: integer('position').notNull(),
    reward: bigNumber('reward'),
    type: text('type'),
    address_hash: hexText('address_hash'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.block_height, table.position] }),
    livesWithBlock(table),
  ],
);

export const blockUncles = explorerSchema.table(
  'block_uncles',
  {
    ...partKey(),
    position: integer('position').notNull(),
    hash: hexText('hash'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.block_height, table.position] }),
    livesWithBlock(table),
  ],
);

export const blockArbitrum = explorerSchema.table(
  'block_arbitrum',
  {
    ...partKey(),
    batch_number: integer('batch_number'),
    status: text('status'),
    batch_data_container: text('batch_data_container'),
    delayed_messages: integer('delayed_messages'),
    l1_block_number: integer('l1_block_number'),
    send_count: integer('send_count'),
    send_root: hexText('send_root'),
    commitment_transaction_hash: hexText('commitment_transaction_hash'),
    commitment_transaction_status: text('commitment_transaction_status'),
    commitment_transaction_timestamp: instant('commitment_transaction_timestamp'),
    confirmation_transaction_hash: hexText('confirmation_transaction_hash'),
    confirmation_transaction_status: text('confirmation_transaction_status'),
    confirmation_transaction_timestamp: instant('confirmation_transaction_timestamp'),
    ...provenance(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.block_height] }), livesWithBlock(table)],
);

export const readBatches = batchStates('read_batches');

export const blockReorgs = explorerSchema.table(
  'block_reorgs',
  {
    chain_id: integer('chain_id').notNull(),
    height: integer('height').notNull(),
    old_hash: hexText('old_hash').notNull(),
    new_hash: hexText('new_hash').notNull(),
    observed_at: instant('observed_at').notNull(),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.height, table.new_hash, table.observed_at] }),
    // For lookups by the hash of a replaced block, and for the newest replacements.
    index('block_reorgs_old_hash').on(table.old_hash, table.chain_id),
    index('block_reorgs_observed_at').on(table.observed_at, table.chain_id),
  ],
);

const reward = z.looseObject({
  reward: bigInteger,
  // Free text in older versions, such as "Miner Reward".
  type: anyText,
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
  // The service reads a cursor of block 0 as "no cursor" and serves page 1 again; below block 1 is
  // only block 0. So both mean the end.
  cursor: belowNumber('block_number', 1),
  item: z.looseObject({
    hash,
    height,
    parent_hash: hash.nullish(),
    timestamp: time,
    type: anyText,
    miner: embeddedAddress.nullish(),
    nonce: anyText,
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
  table: blocks,
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
