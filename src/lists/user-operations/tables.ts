import { sql } from 'drizzle-orm';
import { boolean, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import {
  bigNumber,
  explorerSchema,
  hexText,
  instant,
  integer,
  provenance,
} from '../../db/column-types.ts';

export const userOperations = explorerSchema.table(
  'user_operations',
  {
    chain_id: integer('chain_id').notNull(),
    hash: hexText('hash').notNull(),
    block_number: integer('block_number'),
    timestamp: instant('timestamp'),
    status: boolean('status'),
    address_hash: hexText('address_hash'),
    entry_point_hash: hexText('entry_point_hash'),
    entry_point_version: text('entry_point_version'),
    transaction_hash: hexText('transaction_hash'),
    fee: bigNumber('fee'),
    removed_at: instant('removed_at'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.hash] }),
    // The list's own order, in which ranges are verified complete and left operations are found.
    index('user_operations_block_number').on(table.chain_id, table.block_number, table.hash),
    index('user_operations_address_hash').on(table.address_hash, table.chain_id),
    // For those who query: docs/decisions/0012-growth.md.
    // Descending, as a history is written: pages of the index are filled, not split in half.
    index('user_operations_timestamp').on(table.timestamp.desc().nullsFirst(), table.chain_id),
    index('user_operations_transaction_hash').using('hash', table.transaction_hash),
    // Those whose time is that of their block.
    index('user_operations_timeless')
      .on(table.chain_id, table.block_number)
      .where(sql`timestamp is null`),
    // What was written since a moment: what is summed up beforehand asks for it.
    index('user_operations_updated_at')
      .using('brin', table.updated_at)
      .with({ autosummarize: true }),
    // Which rows came from some pages: the ledger is pruned of those that none did.
    index('user_operations_page').using('brin', table.page_id).with({ autosummarize: true }),
  ],
);
