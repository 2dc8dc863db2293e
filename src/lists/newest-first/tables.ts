import { primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../../db/column-types.ts';

/** Items that appeared where a list had been proved complete without them. */
export const lateArrivals = etlSchema.table(
  'late_arrivals',
  {
    chain_id: integer('chain_id').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    height: integer('height').notNull(),
    timestamp: instant('timestamp'),
    seen_at: instant('seen_at').notNull(),
    page_id: integer('page_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.operation, table.key, table.page_id] })],
);
