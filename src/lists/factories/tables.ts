import {
  boolean,
  foreignKey,
  index,
  integer as int4,
  jsonb,
  primaryKey,
} from 'drizzle-orm/pg-core';
import {
  etlSchema,
  explorerSchema,
  hexText,
  instant,
  integer,
  provenance,
} from '../../db/column-types.ts';

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

/** What the walks of a ranking have met so far; read once, when it is published, and then emptied. */
export const rankingEntries = etlSchema.table(
  'ranking_entries',
  {
    walk_id: integer('walk_id').notNull(),
    address_hash: hexText('address_hash').notNull(),
    position: integer('position').notNull(),
    total_accounts: integer('total_accounts'),
    /** Whether it shows that rows moved during the walk. */
    has_moved: boolean('has_moved').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.walk_id, table.address_hash] }),
    index('ranking_entries_place').on(table.walk_id, table.position),
  ],
);

/** The rankings that were published. */
export const rankings = etlSchema.table(
  'rankings',
  {
    walk_id: integer('walk_id').primaryKey(),
    chain_id: integer('chain_id').notNull(),
    as_of: instant('as_of').notNull(),
    published_at: instant('published_at').notNull(),
    factories: integer('factories').notNull(),
    walks: int4('walks').notNull(),
    still_moving: boolean('still_moving').notNull(),
  },
  (table) => [index('rankings_chain').on(table.chain_id, table.walk_id)],
);
