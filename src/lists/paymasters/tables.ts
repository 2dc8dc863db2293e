import { foreignKey, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';

export const paymasters = explorerSchema.table(
  'paymasters',
  {
    chain_id: integer('chain_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    total_ops: integer('total_ops'),
    rank: integer('rank'),
    missing_since: instant('missing_since'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.address_hash] })],
);

export const paymasterHistory = explorerSchema.table(
  'paymaster_history',
  {
    chain_id: integer('chain_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    observed_at: instant('observed_at').notNull(),
    total_ops: integer('total_ops'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.address_hash, table.observed_at] }),
    foreignKey({
      columns: [table.chain_id, table.address_hash],
      foreignColumns: [paymasters.chain_id, paymasters.address_hash],
    }).onDelete('cascade'),
  ],
);
