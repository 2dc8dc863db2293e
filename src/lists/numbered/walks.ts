import { sql, type SQL } from 'drizzle-orm';
import { type Queryable, valueOf } from '../../db/query.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { PlannedWalk, RunOf } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';

/** A walk of one batch, whole unless its scope says otherwise. */
export const walkOf = (
  batch: number,
  how: Omit<NumberedWalk, 'batch'> = {},
): PlannedWalk<NumberedWalk> => ({ scope: { batch, ...how }, floor: null, cursor: null });

/** A walk that a run began. */
type BegunBatch = { readonly batch: number; readonly state: string; readonly items: number };

/** The walks that the run has begun, one for each batch. */
export async function begunBy(tx: Transaction, run: NumberedRun): Promise<BegunBatch[]> {
  const { rows } = await tx.execute<BegunBatch>(sql`
    select batch::float8 as batch, state, items::float8 as items
    from etl.walks
    where run_id = ${run.id}
  `);
  return rows;
}

/** What walks have shown: one that failed has shown nothing. */
export function shown(polls: readonly BegunBatch[]) {
  return {
    hits: polls.filter(({ items }) => items > 0).map(({ batch }) => batch),
    misses: polls
      .filter(({ state, items }) => state === 'finished' && items === 0)
      .map(({ batch }) => batch),
    isUnderWay: polls.some(({ state }) => state === 'running'),
    hasFailed: polls.some(({ state }) => state === 'failed' || state === 'abandoned'),
  };
}

const walksOf = (run: NumberedRun, number: SQL) => sql`
  select from etl.walks
  where walks.batch = ${number} and walks.feed = ${feedName(run)}
`;

/** As SQL: whether this run has begun a number, if only as a probe. */
export const isBegun = (run: NumberedRun, number: SQL) =>
  sql`exists (${walksOf(run, number)} and walks.run_id = ${run.id})`;

/** As SQL: whether a walk of any lane is reading a number. */
export const isUnderWay = (run: NumberedRun, number: SQL) => sql`exists (
  ${walksOf(run, number)}
    and walks.state = 'running'
    and exists (select from etl.runs where runs.id = walks.run_id and runs.state = 'open')
)`;

/** The newest number that is known to have had blocks; null while none is. */
export const latestBatchOf = (db: Queryable, feed: Feed) =>
  valueOf<number>(db, sql`select frontier::float8 from etl.feeds where ${ofFeed(feed)}`);

/** Notes that there are batches up to a number. */
export const moveFrontier = (tx: Transaction, run: NumberedRun, frontier: number) =>
  tx.execute(sql`update etl.feeds set frontier = ${frontier} where ${ofFeed(run)}`);

/** Whether a number of the range was never read to its end. */
export async function hasUnread(
  db: Queryable,
  { chain_id }: Feed,
  from: number,
  to: number,
): Promise<boolean> {
  const read = await valueOf<number>(
    db,
    sql`
      select count(*)::float8
      from explorer.read_batches
      where chain_id = ${chain_id} and batch_number between ${from} and ${to}
    `,
  );
  return to - from + 1 > (read ?? 0);
}

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
