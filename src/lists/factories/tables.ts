import { foreignKey, jsonb, primaryKey } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, instant, integer, provenance } from '../../db/column-types.ts';

export const factories = explorerSchema.table(
  'factories',
  {
    chain_id: integer('chain_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    total_accounts: integer('total_accounts'),
    rank: integer('rank'),
    missing_since: instant('missing_since'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.address_hash] })],
);

export const factoryHistory = explorerSchema.table(
  'factory_history',
  {
    chain_id: integer('chain_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    observed_at: instant('observed_at').notNull(),
    total_accounts: integer('total_accounts'),
    ...provenance(),
  },
  (table) => [
    primaryKey({ columns: [table.chain_id, table.address_hash, table.observed_at] }),
    foreignKey({
      columns: [table.chain_id, table.address_hash],
      foreignColumns: [factories.chain_id, factories.address_hash],
    }).onDelete('cascade'),
  ],
);
