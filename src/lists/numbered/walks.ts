import { sql, type SQL } from 'drizzle-orm';
import { tableName } from '../../db/column-types.ts';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { PlannedWalk, RunOf, WalkPlan } from '../list.ts';
import type { NumberedOperation, NumberedWalk } from '../operation.ts';
import { z } from 'zod';

/** As SQL, to write: the list's tables of blocks and of states, and the column of a block's number. */
export const tablesOf = ({ table, batches: { states, number } }: NumberedOperation) => ({
  blocks: sql.raw(tableName(table)),
  states: sql.raw(tableName(states)),
  number: sql.raw(`"${number}"`),
});

/** As SQL: the feed's rows of `etl.batch_states` and of what else all numbered lists have in common. */
export const isOf = ({
  chain_id,
  operation,
}: Pick<Feed, 'chain_id'> & { readonly operation: string }) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;

/** A run to plan a walk of. */
export interface Planning {
  readonly list: NumberedOperation;
  readonly tx: Transaction;
  readonly run: NumberedRun;
  readonly at: Date;
}

export type Planned = Promise<WalkPlan<NumberedWalk>>;

/** A walk of one batch, whole unless its scope says otherwise. */
export const walkOf = (
  batch: number,
  how: Omit<NumberedWalk, 'batch'> = {},
): PlannedWalk<NumberedWalk> => ({ scope: { batch, ...how }, floor: null, cursor: null });

const shownWalkShape = () =>
  z.object({ batch: z.number(), items: z.number(), inserted: z.number(), state: z.string() });

/** What the run's walks of batches above `above` showed; a failed walk shows nothing. */
export async function shownBy(tx: Transaction, run: NumberedRun, above = -1) {
  const rows = await execute(tx).rows(shownWalkShape)`
    select batch::float8 as batch, state, items::float8 as items, inserted::float8 as inserted
    from etl.walks
    where run_id = ${run.id} and batch > ${above}
  `;
  const misses = rows.filter(({ state, items }) => state === 'finished' && items === 0);
  return {
    begun: rows.map(({ batch }) => batch),
    hits: rows.filter(({ items }) => items > 0).map(({ batch }) => batch),
    /** How many had only blocks that were known. */
    repeats: rows.filter(({ items, inserted }) => items > 0 && inserted === 0).length,
    misses: misses.map(({ batch }) => batch),
    isRunning: rows.some(({ state }) => state === 'running'),
    hasFailed: rows.some(({ state }) => state === 'failed' || state === 'abandoned'),
  };
}

export type Shown = Awaited<ReturnType<typeof shownBy>>;

/** As SQL: the walks of a number, of `etl.walks`. */
export const walksOf = (feed: Feed, number: SQL) =>
  sql`walks.batch = ${number} and walks.feed = ${feedName(feed)}`;

/** As SQL: whether this run has begun a number; probes count if `countsProbes`. */
export const isBegun = (run: NumberedRun, number: SQL, countsProbes = true) => sql`exists (
  select from etl.walks
  where ${walksOf(run, number)}
    and walks.run_id = ${run.id}
    and (${countsProbes} or not scope ? 'probe')
)`;

/** As SQL: whether a walk of any lane is reading a number. */
export const isUnderWay = (run: NumberedRun, number: SQL) => sql`exists (
  select from etl.walks
  where ${walksOf(run, number)}
    and walks.state = 'running'
    and exists (select from etl.runs where runs.id = walks.run_id and runs.state = 'open')
)`;

/** The newest number with blocks; null while none was met. What a false answer gave to others, later ones take back. */
export const latestBatchOf = (db: Queryable, feed: Feed) =>
  execute(db).value(z.number)`
    select case when exists (
      select from etl.batch_blocks where ${isOf(feed)} and batch_number = latest_batch
    ) then latest_batch else coalesce((
      select max(batch_number) from etl.batch_states
      where ${isOf(feed)} and batch_number < latest_batch and blocks_count > 0
    ), latest_batch) end::float8
    from etl.feeds where ${ofFeed(feed)}
  `;

/** As SQL: the numbers from one to another that were never read to their end. */
export const unreadRanges = (feed: Feed, from: number, to: number) => sql`(
  int8multirange(int8range(${from}::bigint, ${Math.max(to + 1, from)}::bigint))
    - coalesce((select read from etl.covered_batches where ${ofFeed(feed)}), '{}')
)`;

/** What a run of numbered lists covers; each number is walked as a walk of its own. */
export type NumberedScope = {
  readonly from_batch?: number;
  readonly to_batch?: number;
  /** How many of the newest numbers each live run reads again; other runs leave them to it. */
  readonly reread?: number;
  /** Whether unverified batches are read now, whatever their interval: a person waits. */
  readonly at_once?: boolean;
};

export type NumberedRun = RunOf<NumberedScope>;
