import { index, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';

export const bundles = explorerSchema.table(
  'bundles',
  {
    chain_id: integer('chain_id').notNull(),
    transaction_hash: hexText('transaction_hash').notNull(),
    bundle_index: integer('bundle_index').notNull(),
    block_number: integer('block_number'),
    timestamp: instant('timestamp'),
    bundler_hash: hexText('bundler_hash'),
    total_ops: integer('total_ops'),
    removed_at: instant('removed_at'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.transaction_hash, table.bundle_index] }),
    // The list's own order.
    index('bundles_block_number').on(
      table.chain_id,
      table.block_number,
      table.transaction_hash,
      table.bundle_index,
    ),
    // As those of user_operations: for questions of some days, and to prune the ledger.
    index('bundles_timestamp').on(table.timestamp.desc().nullsFirst(), table.chain_id),
    index('bundles_page').using('brin', table.page_id).with({ autosummarize: true }),
  ],
);
