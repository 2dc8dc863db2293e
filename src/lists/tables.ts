import type { OperationName } from '../operations/index.ts';
import { sql, type InferSelectModel } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  index,
  integer as int4,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import type { FailureClass } from '../failure.ts';
import type { ListKindName, ListUnit } from '../operations/operation.ts';
import { lanes } from '../walk/tables.ts';
import { etlSchema, explorerSchema, instant, integer, integerRanges } from '../db/column-types.ts';

export const chains = explorerSchema.table('chains', {
  chain_id: integer('chain_id').primaryKey(),
  name: text('name').notNull(),
  digest: bigint('digest', { mode: 'bigint' }),
});

export const feeds = etlSchema.table(
  'feeds',
  {
    chain_id: integer('chain_id').notNull(),
    operation: text('operation').notNull(),
    /** How its list is ordered: what is proved and what is open of it is judged by that. */
    kind: text('kind').$type<ListKindName>().notNull(),
    /** What the heights of its list count. */
    unit: text('unit').$type<ListUnit>().notNull().default('blocks'),
    feed: text('feed')
      .notNull()
      .generatedAlwaysAs(sql`chain_id::text || '/' || operation`),
    state: text('state').notNull().default('idle'),
    failure: text('failure').$type<FailureClass>(),
    reason: text('reason'),
    settings: jsonb('settings').notNull(),
    /** Scheme, host and path of the explorer that its pages come from; null: nothing was asked yet. */
    origin: text('origin'),
    /** The newest batch number that is known to have blocks. */
    frontier: integer('frontier'),
    /** The batch numbers that are asked for now; without an upper end where all to come are. */
    asked: integerRanges('asked').notNull().default('{}'),
    last_success_at: instant('last_success_at'),
    /** Until when schedules leave a feed alone that the service does not serve; null: they don't. */
    poll_again_at: instant('poll_again_at'),
    updated_at: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chain_id, table.operation] })],
);

/** What a run covers, in the terms of its kind of list; kept as JSON, so that whoever resumes it knows. */
export type RunScope = Readonly<Record<string, unknown>>;

export const runStates = ['open', 'finished', 'failed', 'interrupted', 'superseded'] as const;
export type RunState = (typeof runStates)[number];

/** One wish to bring a feed's lane up to date: opened by `sync`, by another command or by a schedule. */
export const runs = etlSchema.table(
  'runs',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    chain_id: integer('chain_id').notNull(),
    operation: text('operation').$type<OperationName>().notNull(),
    lane: text('lane', { enum: lanes }).notNull(),
    scope: jsonb('scope').$type<RunScope>().notNull(),
    state: text('state', { enum: runStates }).notNull().default('open'),
    failure: text('failure').$type<FailureClass>(),
    reason: text('reason'),
    /** The highest batch not yet begun; the run's batches are walked from the newest down. */
    next_batch: integer('next_batch'),
    /** Failures in a row, for growing intervals between slices. */
    failures_in_a_row: int4('failures_in_a_row').notNull().default(0),
    opened_at: instant('opened_at').notNull().defaultNow(),
    closed_at: instant('closed_at'),
  },
  (table) => [
    uniqueIndex('runs_one_open')
      .on(table.chain_id, table.operation, table.lane)
      .where(sql`state = 'open'`),
    index('runs_feed').on(table.chain_id, table.operation, table.lane, table.id),
  ],
);

export type RunRow = InferSelectModel<typeof runs>;
