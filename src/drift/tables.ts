import { primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import { ofRegisteredFeed } from '../db/tables.ts';

export const drift = etlSchema.table(
  'drift',
  {
    ...ofRegisteredFeed(),
    path: text('path').notNull(),
    kind: text('kind', { enum: ['field', 'vanished', 'type', 'format', 'value'] }).notNull(),
    detail: text('detail').notNull().default(''),
    occurrences: integer('occurrences').notNull().default(0),
    first_page_id: integer('first_page_id').notNull(),
    first_seen_at: instant('first_seen_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({
      columns: [table.chain_id, table.operation, table.path, table.kind, table.detail],
    }),
  ],
);

/** Fields on every item of a page of ten or more: later on none, they have vanished. */
export const alwaysPresentFields = etlSchema.table(
  'always_present_fields',
  {
    ...ofRegisteredFeed(),
    path: text('path').notNull(),
    page_id: integer('page_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.operation, table.path] })],
);
