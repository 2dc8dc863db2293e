import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { explorerSchema, hexText, instant, integer, provenance } from '../db/column-types.ts';

const addressKey = () => ({
  chain_id: integer('chain_id').notNull(),
  address_hash: hexText('address_hash').notNull(),
});

/**
 * Tables of schema `explorer` for a ranked list of addresses with counts, and for each change of `total`, the count
 * that ranks them.
 */
export function rankedTables(
  name: string,
  historyName: string,
  total: string,
  others: readonly string[] = [],
) {
  const counts = [...others, total];
  const items = explorerSchema.table(
    name,
    {
      ...addressKey(),
      ...Object.fromEntries(counts.map((count) => [count, integer(count)])),
      rank: integer('rank'),
      missing_since: instant('missing_since'),
      extra: jsonb('extra'),
      ...provenance(),
    },
    (table) => [primaryKey({ columns: [table.chain_id, table.address_hash] })],
  );
  const history = explorerSchema.table(
    historyName,
    {
      ...addressKey(),
      observed_at: instant('observed_at').notNull(),
      [total]: integer(total),
      ...provenance(),
    },
    (table) => [
      primaryKey({ columns: [table.chain_id, table.address_hash, table.observed_at] }),
      foreignKey({
        columns: [table.chain_id, table.address_hash],
        foreignColumns: [items.chain_id, items.address_hash],
      }).onDelete('cascade'),
    ],
  );
  return { items, history, total, counts };
}

/** A table of schema `explorer` for what the chain verifies of each number of a list. */
export const batchStates = (name: string) =>
  explorerSchema.table(
    name,
    {
      chain_id: integer('chain_id').notNull(),
      batch_number: integer('batch_number').notNull(),
      state: text('state', { enum: ['open', 'settled', 'empty'] }).notNull(),
      blocks_count: integer('blocks_count').notNull(),
      first_height: integer('first_height'),
      last_height: integer('last_height'),
      is_contiguous: boolean('is_contiguous'),
      is_linked: boolean('is_linked'),
      is_verified: boolean('is_verified').notNull().default(false),
      walked_at: instant('walked_at').notNull(),
      ...provenance(),
    },
    (table) => [
      primaryKey({ columns: [table.chain_id, table.batch_number] }),
      // What is read again: a few among hundreds of thousands.
      index(`${name}_unverified`)
        .on(table.batch_number, table.chain_id)
        .where(sql`not is_verified`),
      // Who may have lost a block to a batch that was read.
      index(`${name}_heights`)
        .using('gist', sql`int8range(${table.first_height}, ${table.last_height}, '[]')`)
        .where(sql`blocks_count > 0`),
    ],
  );
