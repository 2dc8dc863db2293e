import { customType, index } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import { pages } from '../lists/tables.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

export const rawPages = etlSchema.table(
  'raw_pages',
  {
    page_id: integer('page_id')
      .primaryKey()
      .references(() => pages.id, { onDelete: 'cascade' }),
    body: bytea('body').notNull(),
    stored_at: instant('stored_at').notNull().defaultNow(),
  },
  (table) => [index('raw_pages_stored_at').on(table.stored_at)],
);
