import { foreignKey, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';

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
