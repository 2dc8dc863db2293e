import { doublePrecision, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import { feeds } from '../db/tables.ts';
import type { FailureClass } from '../failure.ts';
import { lanes } from '../walk/tables.ts';

/** How current each feed was, minute by minute: one process is enough to note it. */
export const feedMinutes = etlSchema.table(
  'feed_minutes',
  {
    feed: text('feed')
      .notNull()
      .references(() => feeds.feed),
    minute: instant('minute').notNull(),
    lag_s: doublePrecision('lag_s'),
    looked_age_s: doublePrecision('looked_age_s'),
    objective_s: doublePrecision('objective_s'),
  },
  // Whoever draws a feed reads its minutes in their order; whoever thins goes by feed as well.
  (table) => [primaryKey({ columns: [table.feed, table.minute] })],
);

/** What each lane did, minute by minute: every process adds its own counts. */
export const laneMinutes = etlSchema.table(
  'lane_minutes',
  {
    feed: text('feed')
      .notNull()
      .references(() => feeds.feed),
    lane: text('lane', { enum: lanes }).notNull(),
    minute: instant('minute').notNull(),
    pages: integer('pages').notNull(),
    inserted: integer('inserted').notNull(),
    changed: integer('changed').notNull(),
    quarantined: integer('quarantined').notNull(),
    requests: integer('requests').notNull(),
    credits: integer('credits').notNull(),
    /** Requests that failed, by class. */
    failures: jsonb('failures').$type<Partial<Record<FailureClass, number>>>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.lane, table.minute] })],
);
