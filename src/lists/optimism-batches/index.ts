import { foreignKey, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { knownChains } from '../../chains.ts';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';
import { generational, textOf } from '../../drift/fields.ts';
import { newestFirst, operation } from '../define.ts';
import { count, hash, height, time } from '../item-rows.ts';
import { belowNumber } from '../positions.ts';

/** What the list of batches reports of each. */
export const listedBatches = explorerSchema.table(
  'listed_batches',
  {
    chain_id: integer('chain_id').notNull(),
    batch_number: integer('batch_number').notNull(),
    l1_timestamp: instant('l1_timestamp'),
    transactions_count: integer('transactions_count'),
    l2_start_block_number: integer('l2_start_block_number'),
    l2_end_block_number: integer('l2_end_block_number'),
    batch_data_container: text('batch_data_container'),
    removed_at: instant('removed_at'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.batch_number] }),
    index('listed_batches_l1_timestamp').on(table.l1_timestamp, table.chain_id),
  ],
);

/** The L1 transactions that a batch was posted in. */
export const optimismBatchTransactions = explorerSchema.table(
  'optimism_batch_l1_transactions',
  {
    chain_id: integer('chain_id').notNull(),
    batch_number: integer('batch_number').notNull(),
    position: integer('position').notNull(),
    hash: hexText('hash'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.batch_number, table.position] }),
    foreignKey({
      columns: [table.chain_id, table.batch_number],
      foreignColumns: [listedBatches.chain_id, listedBatches.batch_number],
    }).onDelete('cascade'),
    index('optimism_batch_l1_transactions_hash').on(table.hash, table.chain_id),
  ],
);

const number = height.max(999_999_999_999_999).nullish();
const hashes = z.array(hash.nullish()).nullish();

/** The list of Optimism batches, newest first. */
export const optimismBatches = operation({
  name: 'optimism-batches',
  path: () => 'optimism/batches',
  cursor: belowNumber('id', 0),
  item: z
    .looseObject({
      number: generational(number),
      internal_id: generational(number, 'number'),
      l1_timestamp: time,
      transactions_count: generational(count),
      transaction_count: generational(count, 'transactions_count'),
      tx_count: generational(count, 'transactions_count'),
      l2_start_block_number: generational(count),
      l2_block_start: generational(count, 'l2_start_block_number'),
      l2_end_block_number: generational(count),
      l2_block_end: generational(count, 'l2_end_block_number'),
      batch_data_container: generational(
        textOf('in_blob4844', 'in_celestia', 'in_eigenda', 'in_alt_da', 'in_calldata'),
      ),
      l1_transaction_hashes: generational(hashes),
      l1_tx_hashes: generational(hashes, 'l1_transaction_hashes'),
    })
    .refine(
      (batch) => (batch.number ?? batch.internal_id ?? null) !== null,
      'number: expected the number of the batch',
    ),
  table: listedBatches,
  key: ['batch_number'],
  columns: { number: 'batch_number' },
  children: { l1_transaction_hashes: optimismBatchTransactions },
  list: newestFirst(
    { height: 'batch_number', time: 'l1_timestamp', unit: 'batches' },
    // A batch's counts change while its blocks are indexed.
    { schedule: '*/10 * * * *', overlap: '1h', resweep: [{ depth: '1d', every: '1d' }] },
  ),
  offer: (chainId) => (knownChains.get(chainId)?.hasOptimismBatches ? 'usual' : 'absent'),
  guide: {
    list: 'batches',
    items: 'batches',
    about: 'The list of Optimism batches: when and how each was posted to L1, newest first.',
    example: (chainId) =>
      knownChains.get(chainId)?.hasOptimismBatches
        ? `      # The history once: one page for every 50 batches. Then what is new.
      optimism-batches:
        schedule: '*/10 * * * *' # one page each time
        overlap: 1h # how far below the newest known one each poll reads, since counts still change
`
        : '',
  },
});
