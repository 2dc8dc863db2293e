import { boolean, index, integer as int4, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, hexText, instant, integer } from '../../db/column-types.ts';

/** What the walks of a ranking met so far; read once, when it is published, and then deleted. */
export const rankingEntries = etlSchema.table(
  'ranking_entries',
  {
    walk_id: integer('walk_id').notNull(),
    key: hexText('key').notNull(),
    position: integer('position').notNull(),
    total: integer('total'),
    /** Whether it shows that rows moved during the walk. */
    has_moved: boolean('has_moved').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.walk_id, table.key] }),
    index('ranking_entries_place').on(table.walk_id, table.position),
  ],
);

/** The rankings that were published. */
export const rankings = etlSchema.table(
  'rankings',
  {
    walk_id: integer('walk_id').primaryKey(),
    feed: text('feed').notNull(),
    as_of: instant('as_of').notNull(),
    published_at: instant('published_at').notNull(),
    items: integer('items').notNull(),
    walks: int4('walks').notNull(),
    still_moving: boolean('still_moving').notNull(),
  },
  (table) => [index('rankings_feed').on(table.feed, table.walk_id)],
);
