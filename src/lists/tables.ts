import { type InferSelectModel, sql } from 'drizzle-orm';
import {
  bigserial,
  boolean,
  check,
  index,
  integer as int4,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import {
  etlSchema,
  explorerSchema,
  hexText,
  instant,
  integer,
  integerRange,
  integerRanges,
  rowOf,
} from '../db/column-types.ts';
import { z } from 'zod';
import { feeds, ofRegisteredFeed } from '../db/tables.ts';
import type { FailureClass } from '../failure.ts';
import type { Cursor, ListKindName, Scope } from './operation.ts';
import type { OperationName } from './registry.ts';

export const lanes = ['live', 'backfill'] as const;
export type Lane = (typeof lanes)[number];

// What each table and column holds is in sql/comments.

export const chains = explorerSchema.table('chains', {
  chain_id: integer('chain_id').primaryKey(),
  name: text('name').notNull(),
  native_symbol: text('native_symbol'),
  native_decimals: integer('native_decimals').notNull().default(18),
  explorer_url: text('explorer_url'),
});

/** What a run covers, in the terms of its kind of list; kept as JSON, so that anyone who resumes it knows. */
export type RunScope = Readonly<Record<string, unknown>>;

export const runStates = ['open', 'finished', 'failed', 'interrupted', 'superseded'] as const;

export const runs = etlSchema.table(
  'runs',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    ...ofRegisteredFeed<OperationName>(),
    lane: text('lane', { enum: lanes }).notNull(),
    scope: jsonb('scope').$type<RunScope>().notNull(),
    state: text('state', { enum: runStates }).notNull().default('open'),
    failure: text('failure').$type<FailureClass>(),
    reason: text('reason'),
    latest_batch_before: integer('latest_batch_before'),
    failures_in_a_row: int4('failures_in_a_row').notNull().default(0),
    failed_requests: integer('failed_requests').notNull().default(0),
    first_failure: text('first_failure'),
    waited_ms: integer('waited_ms').notNull().default(0),
    opened_at: instant('opened_at').notNull().defaultNow(),
    closed_at: instant('closed_at'),
  },
  (table) => [
    uniqueIndex('runs_one_open')
      .on(table.feed, table.lane)
      .where(sql`state = 'open'`),
    index('runs_feed').on(table.feed, table.lane, table.id),
    // Of a year's runs those that are opened again or superseded, and the last that went well.
    index('runs_unfinished')
      .on(table.feed, table.lane, table.id)
      .where(sql`state in ('open', 'interrupted')`),
    index('runs_finished')
      .on(table.feed, table.lane, table.id)
      .where(sql`state = 'finished'`),
  ],
);

export type RunRow = InferSelectModel<typeof runs>;

/** What a walk's row says of it; `src/sync/SPEC.md` has the transitions. */
const walkStates = ['running', 'finished', 'failed', 'abandoned'] as const;

export const walks = etlSchema.table(
  'walks',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    ...ofRegisteredFeed<OperationName>(),
    lane: text('lane', { enum: lanes }).notNull(),
    run_id: integer('run_id').notNull(),
    kind: text('kind').$type<ListKindName>().notNull(),
    scope: jsonb('scope').$type<Scope>().notNull(),
    batch: integer('batch').generatedAlwaysAs(sql`(scope ->> 'batch')::bigint`),
    state: text('state', { enum: walkStates }).notNull().default('running'),
    failure: text('failure').$type<FailureClass>(),
    reason: text('reason'),
    cursor: jsonb('cursor').$type<Cursor>(),
    revision: integer('revision').notNull().default(0),
    floor: integer('floor'),
    depth_ms: integer('depth_ms'),
    from_head: boolean('from_head').notNull().default(true),
    is_ordered: boolean('is_ordered').notNull().default(true),
    verified: integerRanges('verified').notNull().default('{}'),
    range_top: integer('range_top'),
    cuts: integer('cuts').notNull().default(0),
    top: integer('top'),
    bottom: integer('bottom'),
    pages: integer('pages').notNull().default(0),
    items: integer('items').notNull().default(0),
    inserted: integer('inserted').notNull().default(0),
    changed: integer('changed').notNull().default(0),
    quarantined: integer('quarantined').notNull().default(0),
    archived_bytes: integer('archived_bytes').notNull().default(0),
    credits: integer('credits').notNull().default(0),
    empty_run: int4('empty_run').notNull().default(0),
    is_older: boolean('is_older').notNull().default(false),
    started_at: instant('started_at').notNull().defaultNow(),
    as_of: instant('as_of').notNull().defaultNow(),
    updated_at: instant('updated_at').notNull().defaultNow(),
    finished_at: instant('finished_at'),
  },
  (table) => [
    // Two walks of one scope to one floor at once would pay twice for the same pages.
    uniqueIndex('walks_one_running')
      .on(table.feed, table.lane, sql`md5(${table.scope}::text)`, sql`coalesce(${table.floor}, -1)`)
      .where(sql`state = 'running'`),
    index('walks_run').on(table.run_id, table.state),
    index('walks_batch').on(table.batch, table.feed),
    index('walks_feed').on(table.feed, table.id),
    // What is due is judged by the walks of the last days, lateness by those above a page.
    index('walks_started').on(table.feed, table.started_at),
    index('walks_as_of').on(table.feed, table.as_of),
    index('walks_top').on(table.feed, table.top),
    // The next indexes change when a walk begins or ends: no checkpoint updates them.
    index('walks_finished').on(table.finished_at),
    index('walks_to_end')
      .on(table.feed, table.bottom, table.id)
      .where(sql`state = 'finished' and reason is null`),
    index('walks_backfill')
      .on(table.feed, table.id)
      .where(sql`lane = 'backfill'`),
    index('walks_entered')
      .on(table.feed)
      .where(sql`not from_head`),
    index('walks_since')
      .on(table.feed)
      .where(sql`reason = 'since'`),
  ],
);

const laneKey = () => ({
  feed: text('feed')
    .notNull()
    .references(() => feeds.feed),
  lane: text('lane', { enum: lanes }).notNull(),
});

export const wantedLanes = etlSchema.table(
  'lanes',
  {
    ...laneKey(),
    wanted_by: text('wanted_by').array().notNull().default([]),
    scope: jsonb('scope').$type<RunScope>(),
    next_due_at: instant('next_due_at'),
    requested_at: instant('requested_at'),
    paused_at: instant('paused_at'),
    worker: uuid('worker'),
    taken_at: instant('taken_at'),
    due_at: instant('due_at'),
    stopped_at: instant('stopped_at'),
  },
  (table) => [primaryKey({ columns: [table.feed, table.lane] })],
);

/** What a lane's walks verified and counted. A commit locks it last, so other walks wait least. */
export const coverage = etlSchema.table(
  'coverage',
  {
    ...laneKey(),
    verified: integerRanges('verified').notNull().default('{}'),
    verified_at: instant('verified_at'),
    pages: integer('pages').notNull().default(0),
    inserted: integer('inserted').notNull().default(0),
    archived_bytes: integer('archived_bytes').notNull().default(0),
    credits: integer('credits').notNull().default(0),
    spanned_items: integer('spanned_items').notNull().default(0),
    spanned_blocks: integer('spanned_blocks').notNull().default(0),
    last_page_at: instant('last_page_at'),
  },
  (table) => [primaryKey({ columns: [table.feed, table.lane] })],
);

export const batchCoverage = etlSchema.table('batch_coverage', {
  feed: text('feed')
    .primaryKey()
    .references(() => feeds.feed),
  read: integerRanges('read').notNull().default('{}'),
  verified: integerRanges('verified').notNull().default('{}'),
});

export const editedBatches = etlSchema.table('edited_batches', {
  /** No number of the batch: a change that is noted twice meanwhile waits for no one. */
  id: uuid('id').primaryKey().defaultRandom(),
  chain_id: integer('chain_id').notNull(),
  operation: text('operation').notNull(),
  batch_number: integer('batch_number').notNull(),
});

export const pruned = etlSchema.table(
  'pruned',
  {
    ...laneKey(),
    pages: integer('pages').notNull(),
    credits: integer('credits').notNull(),
    spanned_items: integer('spanned_items').notNull(),
    spanned_blocks: integer('spanned_blocks').notNull(),
    verified: integerRanges('verified').notNull(),
    as_of: instant('as_of').notNull(),
    newest_as_of: instant('newest_as_of').notNull(),
  },
  (table) => [primaryKey({ columns: [table.feed, table.lane] })],
);

export const pages = etlSchema.table(
  'pages',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    walk_id: integer('walk_id')
      .notNull()
      .references(() => walks.id),
    /** The walk's: ways into a list are sought among the pages of all its walks. */
    feed: text('feed').notNull(),
    sequence: integer('sequence').notNull(),
    cursor_in: jsonb('cursor_in').$type<Cursor>(),
    cursor_out: jsonb('cursor_out').$type<Cursor>(),
    items: int4('items').notNull(),
    rows: int4('rows').notNull(),
    repeats: int4('repeats').notNull(),
    quarantined: int4('quarantined').notNull(),
    inserted: int4('inserted').notNull(),
    changed: int4('changed').notNull(),
    top: integer('top'),
    bottom: integer('bottom'),
    heights: integerRanges('heights'),
    is_ordered: boolean('is_ordered').notNull().default(true),
    is_end_reported: boolean('is_end_reported').notNull().default(true),
    misplaced: int4('misplaced').array(),
    jumped: integerRange('jumped'),
    last_key: text('last_key'),
    bytes: int4('bytes').notNull(),
    body_hash: text('body_hash').notNull(),
    attempts: int4('attempts').notNull(),
    latency_ms: int4('latency_ms').notNull(),
    credits: int4('credits').notNull(),
    fetched_at: instant('fetched_at').notNull(),
  },
  (table) => [
    uniqueIndex('pages_walk_sequence').on(table.walk_id, table.sequence),
    // Promise 6, progress: a cursor is used once in a walk. The digest keeps a cursor of any
    // length within what a btree entry holds.
    uniqueIndex('pages_walk_cursor').on(
      table.walk_id,
      sql`md5(coalesce(${table.cursor_in}, '{}')::text)`,
    ),
    index('pages_entry')
      .on(table.feed, table.top, table.id)
      .where(sql`cursor_in is not null and is_ordered`),
    index('pages_jumped')
      .on(table.feed)
      .where(sql`jumped is not null`),
    // Promise 4, nothing dropped.
    check('pages_nothing_dropped', sql`items = rows + quarantined + repeats`),
    check('pages_rows_counted', sql`inserted + changed <= rows`),
  ],
);

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
    primaryKey({ columns: [table.chain_id, table.operation, table.key, table.page_id] }),
    // The newest are shown, however many there were.
    index('late_arrivals_seen_at').on(table.seen_at),
  ],
);

export const batchObservations = etlSchema.table(
  'batch_observations',
  {
    chain_id: integer('chain_id').notNull(),
    operation: text('operation').notNull(),
    batch_number: integer('batch_number').notNull(),
    top: integer('top'),
    bottom: integer('bottom'),
    parent_hash: hexText('parent_hash'),
    times_seen: int4('times_seen').notNull().default(0),
    walk_id: integer('walk_id').notNull(),
    run_id: integer('run_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.operation, table.batch_number] })],
);

export const rankingEntries = etlSchema.table(
  'ranking_entries',
  {
    walk_id: integer('walk_id').notNull(),
    key: hexText('key').notNull(),
    position: integer('position').notNull(),
    total: integer('total'),
    has_moved: boolean('has_moved').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.walk_id, table.key] }),
    index('ranking_entries_place').on(table.walk_id, table.position),
  ],
);

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

/** migrations/0000_tables.sql makes it unlogged. What a worker remembers of before a crash may never have reached the disk. */
export const incarnations = etlSchema.table('incarnations', {
  is_only: boolean('is_only').primaryKey().default(true),
  id: uuid('id').notNull().defaultRandom(),
});

export type WalkRow = InferSelectModel<typeof walks>;

/** With the incarnation of the server when it was taken: after a crash the worker holds it no longer. */
export const heldWalkShape = () => rowOf(walks).and(z.object({ incarnation: z.string() }));
export type HeldWalk = Readonly<z.infer<ReturnType<typeof heldWalkShape>>>;
