import { sql } from 'drizzle-orm';
import { bigserial, boolean, index, jsonb, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { FailureClass } from '../failure.ts';
import { etlSchema, instant, integer, integerRanges } from './column-types.ts';

/** The feed of a row. `feed` is the key for queries and joins; the other two are for people. */
export const feedColumns = <Operation extends string = string>() => ({
  chain_id: integer('chain_id').notNull(),
  operation: text('operation').$type<Operation>().notNull(),
  feed: text('feed')
    .notNull()
    .generatedAlwaysAs(sql`chain_id::text || '/' || operation`),
});

/** The same, with a foreign key: a feed is registered before it works. */
export const ofRegisteredFeed = <Operation extends string = string>() => {
  const columns = feedColumns<Operation>();
  return { ...columns, feed: columns.feed.references(() => feeds.feed) };
};

/**
 * Declared in the lowest module with tables, because all others refer to it. `feed` is no part of a primary key: Postgres
 * 18 refuses updates of published tables whose key is generated.
 */
export const feeds = etlSchema.table(
  'feeds',
  {
    ...feedColumns(),
    feed: feedColumns().feed.unique(),
    /** The list's order, by which coverage is judged. */
    kind: text('kind').notNull(),
    /** What the list's heights count. */
    unit: text('unit').notNull().default('blocks'),
    failure: text('failure').$type<FailureClass>(),
    /** Null: nothing is wrong; the state follows from the class. */
    reason: text('reason'),
    /** Includes the bounds of `target`. */
    settings: jsonb('settings').notNull(),
    /** A command's last bounds, as settings; null: none, or the configuration has bounds. */
    target: jsonb('target'),
    /** Scheme, host and path of the explorer; null: nothing was requested yet. */
    origin: text('origin'),
    /** The newest batch number that is known to have blocks. */
    latest_batch: integer('latest_batch'),
    /** Target ranges of batch numbers; open-ended if future batches are included. */
    target_numbers: integerRanges('target_numbers').notNull().default('{}'),
    last_success_at: instant('last_success_at'),
    /** No walk that had ended at `since` by then counts as an end; null: all do. */
    since_doubted_at: instant('since_doubted_at'),
    /** Rows that were stored when it was registered, or a person reset it last. */
    rows_before: integer('rows_before').notNull().default(0),
    /** Those rows are of `origin` then; null: never. */
    reset_at: instant('reset_at'),
    /** Until then schedules skip a feed that the service does not serve; null: they do not. */
    poll_again_at: instant('poll_again_at'),
    updated_at: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.operation] })],
);

/** Processes that work; each deletes its row when it stops. */
export const workers = etlSchema.table('workers', {
  id: uuid('id').primaryKey(),
  kind: text('kind').notNull(),
  /** Whose file it follows; null: it has none. */
  deployment: text('deployment'),
  host: text('host').notNull(),
  version: text('version').notNull(),
  /** What its file says of each key, by fingerprint. */
  limits: jsonb('limits').notNull().default({}),
  started_at: instant('started_at').notNull().defaultNow(),
  /** By Postgres' clock; it counts as lost when it is silent. */
  seen_at: instant('seen_at')
    .notNull()
    .default(sql`clock_timestamp()`),
});

/** Events beside the runs, for the timeline: a killed worker, another or a refused configuration. */
export const events = etlSchema.table(
  'events',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    at: instant('at')
      .notNull()
      .default(sql`clock_timestamp()`),
    kind: text('kind', {
      enum: ['killed', 'connection-lost', 'config-changed', 'config-refused', 'stopped', 'command'],
    }).notNull(),
    /** Null: all feeds. */
    feed: text('feed'),
    sentence: text('sentence').notNull(),
  },
  (table) => [index('events_at').on(table.at)],
);

/** One row: the time below which no change of schema explorer can appear any more. */
export const changeBound = etlSchema.table('change_bound', {
  is_only: boolean('is_only').primaryKey().default(true),
  until: instant('until').notNull(),
});

/** What failed the last time, of the work beside pages. */
export const maintenance = etlSchema.table('maintenance', {
  task: text('task', { enum: ['sums', 'housekeeping'] }).primaryKey(),
  reason: text('reason').notNull(),
  since: instant('since').notNull().defaultNow(),
});
