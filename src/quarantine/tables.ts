import { sql } from 'drizzle-orm';
import { bigserial, index, integer as int4, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import { ofRegisteredFeed } from '../db/tables.ts';
import type { Scope } from '../lists/operation.ts';

export const quarantine = etlSchema.table(
  'quarantine',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    ...ofRegisteredFeed(),
    scope: jsonb('scope').$type<Scope>().notNull(),
    raw: jsonb('raw').notNull(),
    raw_hash: text('raw_hash').notNull(),
    reason: text('reason').notNull(),
    page_id: integer('page_id').notNull(),
    last_page_id: integer('last_page_id'),
    position: int4('position').notNull(),
    /** The blocks between which the item stands on its page; null where that is not known. */
    from_block: integer('from_block'),
    to_block: integer('to_block'),
    first_seen_at: instant('first_seen_at').notNull().defaultNow(),
    /** When a person dropped it; what was dropped is kept, or no one would know what is missing. */
    dropped_at: instant('dropped_at'),
  },
  (table) => [
    // The same bad item read again is the same row.
    uniqueIndex('quarantine_item').on(table.feed, table.raw_hash, sql`md5(${table.scope}::text)`),
    // Those that wait, the newest first, however many were dropped.
    index('quarantine_waiting')
      .on(table.id)
      .where(sql`dropped_at is null`),
  ],
);
