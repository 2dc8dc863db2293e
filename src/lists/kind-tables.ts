import { sql } from 'drizzle-orm';
import { boolean, index, primaryKey, text } from 'drizzle-orm/pg-core';
import { explorerSchema, instant, integer, provenance } from '../db/column-types.ts';

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
