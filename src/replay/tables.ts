import { sql } from 'drizzle-orm';
import { customType, index, text, bigserial } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer, integerRanges } from '../db/column-types.ts';
import { ofRegisteredFeed } from '../db/tables.ts';
import { pages } from '../walk/tables.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Numbers the transactions that archive pages: taken last in each, it is their order. */
export const rawCommits = etlSchema.sequence('raw_commits');

export const rawPages = etlSchema.table(
  'raw_pages',
  {
    page_id: integer('page_id')
      .primaryKey()
      .references(() => pages.id, { onDelete: 'cascade' }),
    body: bytea('body').notNull(),
    encoding: text('encoding').notNull(),
    commit_number: integer('commit_number')
      .notNull()
      .default(sql`nextval('etl.raw_commits')`),
    stored_at: instant('stored_at').notNull().defaultNow(),
  },
  (table) => [
    index('raw_pages_commit_number').on(table.commit_number, table.page_id),
    index('raw_pages_stored_at').on(table.stored_at),
  ],
);

/** Each change of what is asked for, written by a trigger, for replays. */
export const askings = etlSchema.table(
  'askings',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    ...ofRegisteredFeed(),
    asked: integerRanges('asked').notNull(),
    /** The newest run at that time. */
    last_run: integer('last_run').notNull(),
    asked_at: instant('asked_at').notNull().defaultNow(),
  },
  (table) => [index('askings_feed').on(table.feed, table.id)],
);
