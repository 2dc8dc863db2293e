import { sql } from 'drizzle-orm';
import { index, jsonb, text } from 'drizzle-orm/pg-core';
import type { FailureClass } from '../failure.ts';
import { etlSchema, instant, integer, integerRanges } from './column-types.ts';

/** Whose rows they are. `feed` is the key, which rows are found and joined by; the other two are for people. */
export const feedColumns = <Operation extends string = string>() => ({
  chain_id: integer('chain_id').notNull(),
  operation: text('operation').$type<Operation>().notNull(),
  feed: text('feed')
    .notNull()
    .generatedAlwaysAs(sql`chain_id::text || '/' || operation`),
});

/** The same of rows that come of a feed's work: it is registered before it works. */
export const ofRegisteredFeed = <Operation extends string = string>() => {
  const columns = feedColumns<Operation>();
  return { ...columns, feed: columns.feed.references(() => feeds.feed) };
};

/** In the lowest room that has tables: those of all others refer to it. */
export const feeds = etlSchema.table('feeds', {
  ...feedColumns(),
  feed: feedColumns().feed.primaryKey(),
  /** How its list is ordered: what is verified and what is open of it is judged by that. */
  kind: text('kind').notNull(),
  /** What the heights of its list count. */
  unit: text('unit').notNull().default('blocks'),
  state: text('state').notNull().default('idle'),
  failure: text('failure').$type<FailureClass>(),
  reason: text('reason'),
  /** With the bounds of `target` in it. */
  settings: jsonb('settings').notNull(),
  /** The bounds that a command named last, as settings; null: none did, or the configuration names bounds. */
  target: jsonb('target'),
  /** Scheme, host and path of the explorer that its pages come from; null: nothing was asked yet. */
  origin: text('origin'),
  /** The newest batch number that is known to have blocks. */
  frontier: integer('frontier'),
  /** The batch numbers that are requested now; without an upper end where all to come are. */
  asked: integerRanges('asked').notNull().default('{}'),
  last_success_at: instant('last_success_at'),
  /** Until when schedules leave a feed alone that the service does not serve; null: they don't. */
  poll_again_at: instant('poll_again_at'),
  updated_at: instant('updated_at').notNull().defaultNow(),
});

/** What happened beside the runs, for the timeline: a worker was killed, the configuration changed. */
export const events = etlSchema.table(
  'events',
  {
    at: instant('at')
      .notNull()
      .default(sql`clock_timestamp()`),
    kind: text('kind', {
      enum: ['killed', 'config-changed', 'config-refused', 'stopped'],
    }).notNull(),
    /** Null: it concerns all of them. */
    feed: text('feed'),
    sentence: text('sentence').notNull(),
  },
  (table) => [index('events_at').on(table.at)],
);
