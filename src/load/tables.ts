import { boolean, foreignKey, jsonb, type PgColumn, primaryKey, text } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, integer, provenance } from '../db/column-types.ts';

export const addresses = explorerSchema.table(
  'addresses',
  {
    chain_id: integer('chain_id').notNull(),
    hash: hexText('hash').notNull(),
    name: text('name'),
    ens_domain_name: text('ens_domain_name'),
    is_contract: boolean('is_contract'),
    is_scam: boolean('is_scam'),
    is_verified: boolean('is_verified'),
    proxy_type: text('proxy_type'),
    reputation: text('reputation'),
    extra: jsonb('extra'),
    ...provenance(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.hash] })],
);

export const addressKey = () => ({
  chain_id: integer('chain_id').notNull(),
  address_hash: hexText('address_hash').notNull(),
});

interface OfAddress {
  readonly chain_id: PgColumn;
  readonly address_hash: PgColumn;
}

/** The keys of a table whose rows belong to an address: they go when its row in another table goes. */
export const keysBelow = (
  parent: readonly [PgColumn, PgColumn],
  { chain_id, address_hash }: OfAddress,
  ...within: PgColumn[]
) => [
  primaryKey({ columns: [chain_id, address_hash, ...within] }),
  foreignKey({ columns: [chain_id, address_hash], foreignColumns: [...parent] }).onDelete(
    'cascade',
  ),
];

const memberKeys = (table: OfAddress, ...within: PgColumn[]) =>
  keysBelow([addresses.chain_id, addresses.hash], table, ...within);

export const addressImplementations = explorerSchema.table(
  'address_implementations',
  {
    ...addressKey(),
    position: integer('position').notNull(),
    implementation_hash: hexText('implementation_hash'),
    name: text('name'),
    ...provenance(),
  },
  (table) => memberKeys(table, table.position),
);

export const addressMetadataTags = explorerSchema.table(
  'address_metadata_tags',
  {
    ...addressKey(),
    position: integer('position').notNull(),
    slug: text('slug'),
    name: text('name'),
    tag_type: text('tag_type'),
    ordinal: integer('ordinal'),
    meta: jsonb('meta'),
    ...provenance(),
  },
  (table) => memberKeys(table, table.position),
);

export const addressLabels = explorerSchema.table(
  'address_labels',
  {
    ...addressKey(),
    kind: text('kind').notNull(),
    position: integer('position').notNull(),
    label: text('label'),
    display_name: text('display_name'),
    ...provenance(),
  },
  (table) => memberKeys(table, table.kind, table.position),
);

export const addressWatchlistNames = explorerSchema.table(
  'address_watchlist_names',
  {
    ...addressKey(),
    position: integer('position').notNull(),
    label: text('label'),
    display_name: text('display_name'),
    ...provenance(),
  },
  (table) => memberKeys(table, table.position),
);

/** The tables that pages of every list write, because each shows addresses. */
export const addressTables = [
  addressImplementations,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
  addresses,
] as const;
