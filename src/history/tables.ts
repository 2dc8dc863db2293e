import { doublePrecision, integer as int4, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { etlSchema, instant, integer } from '../db/column-types.ts';
import { feeds } from '../db/tables.ts';
import type { FailureClass } from '../failure.ts';
import { lanes } from '../lists/tables.ts';

/**
 * How much time a row tells of, in seconds: a minute, or once thinned a quarter of an hour. It comes before the
 * time in the key: so all minutes that are thinned stand together in the index, and its pages are used again.
 * Among thinned rows each page would keep a few: 3.6 MB a feed instead of 0.9.
 */
const span = () => int4('span_s').notNull().default(60);

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
    span_s: span(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.span_s, table.minute] })],
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
    span_s: span(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.lane, table.span_s, table.minute] })],
);
