import type { OperationName } from '../operations/index.ts';
import { sql, type InferSelectModel } from 'drizzle-orm';
import { bigserial, index, integer as int4, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { FailureClass } from '../failure.ts';
import { lanes } from '../walk/tables.ts';
import { etlSchema, explorerSchema, instant, integer } from '../db/column-types.ts';
import { ofRegisteredFeed } from '../db/tables.ts';

export const chains = explorerSchema.table('chains', {
  chain_id: integer('chain_id').primaryKey(),
  name: text('name').notNull(),
  native_symbol: text('native_symbol'),
  native_decimals: integer('native_decimals').notNull().default(18),
  explorer_url: text('explorer_url'),
});

/** What a run covers, in the terms of its kind of list; kept as JSON, so that whoever resumes it knows. */
export type RunScope = Readonly<Record<string, unknown>>;

export const runStates = ['open', 'finished', 'failed', 'interrupted', 'superseded'] as const;
export type RunState = (typeof runStates)[number];

/** One wish to bring a feed's lane up to date: opened by `sync`, by another command or by a schedule. */
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
    /** Of a backfill of batches: the highest one not yet begun; they are walked from the newest down. */
    next_batch: integer('next_batch'),
    /** Of a live run of batches: the frontier when it first looked; what is above is new to it. */
    frontier_before: integer('frontier_before'),
    /** Failures in a row, for growing intervals between slices. */
    failures_in_a_row: int4('failures_in_a_row').notNull().default(0),
    /** When a process that was told to stop let go of it; null again once another takes it up. */
    stopped_at: instant('stopped_at'),
    /** When the worker that has it took it up, whose lock shows that it lives. */
    taken_up_at: instant('taken_up_at'),
    /** When it is to be taken up, where no worker has it; null once a process let go of it. */
    due_at: instant('due_at').defaultNow(),
    opened_at: instant('opened_at').notNull().defaultNow(),
    closed_at: instant('closed_at'),
  },
  (table) => [
    uniqueIndex('runs_one_open')
      .on(table.feed, table.lane)
      .where(sql`state = 'open'`),
    index('runs_feed').on(table.feed, table.lane, table.id),
    // Of a year's runs those that are opened again or set aside, and the last that went well.
    index('runs_unfinished')
      .on(table.feed, table.lane, table.id)
      .where(sql`state in ('open', 'interrupted')`),
    index('runs_finished')
      .on(table.feed, table.lane, table.id)
      .where(sql`state = 'finished'`),
  ],
);

export type RunRow = InferSelectModel<typeof runs>;
