import { index, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../../db/column-types.ts';
import { ofRegisteredFeed } from '../../db/tables.ts';

/** Items that appeared where a list had been verified complete without them. */
export const lateArrivals = etlSchema.table(
  'late_arrivals',
  {
    ...ofRegisteredFeed(),
    key: text('key').notNull(),
    height: integer('height').notNull(),
    timestamp: instant('timestamp'),
    seen_at: instant('seen_at').notNull(),
    page_id: integer('page_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.feed, table.key, table.page_id] }),
    // The newest are shown, however many there were.
    index('late_arrivals_seen_at').on(table.seen_at),
  ],
);
