import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { PlannedWalk, RunOf } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';

/** A walk of one batch, whole unless its scope says otherwise. */
export const walkOf = (
  batch: number,
  how: Omit<NumberedWalk, 'batch'> = {},
): PlannedWalk<NumberedWalk> => ({
  scope: { batch, ...how },
  floor: null,
  cursor: null,
});

/** A poll of a number that a run began. */
export interface BegunBatch extends Record<string, unknown> {
  readonly batch: number;
  readonly state: string;
  readonly items: number;
}

/** The walks that the run has begun, one for each batch. */
export async function begunBy(tx: Transaction, run: NumberedRun): Promise<BegunBatch[]> {
  const { rows } = await tx.execute<BegunBatch>(sql`
    select batch::float8 as batch, state, items::float8 as items
    from etl.walks
    where run_id = ${run.id}
  `);
  return rows;
}

/** What polls have shown: a poll that failed has shown nothing. */
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

/** As SQL: whether this run has begun a number, if only to look whether it is there. */
export const isBegun = (run: NumberedRun, number: SQL) =>
  sql`exists (${walksOf(run, number)} and walks.run_id = ${run.id})`;

/** As SQL: whether a number is being read, by whichever lane. */
export const isUnderWay = (run: NumberedRun, number: SQL) => sql`exists (
  ${walksOf(run, number)}
    and walks.state = 'running'
    and exists (select from etl.runs where runs.id = walks.run_id and runs.state = 'open')
)`;

/** The newest number that is known to have had blocks; null while none is. */
export async function latestBatchOf(
  tx: Pick<Transaction, 'execute'>,
  feed: Feed,
): Promise<number | null> {
  const { rows } = await tx.execute<{ frontier: string | null }>(
    sql`select frontier from etl.feeds where ${ofFeed(feed)}`,
  );
  const frontier = rows[0]?.frontier ?? null;
  return frontier === null ? null : Number(frontier);
}

/** Notes that there are batches up to a number. */
export async function moveFrontier(
  tx: Transaction,
  run: NumberedRun,
  frontier: number,
): Promise<void> {
  await tx.execute(sql`update etl.feeds set frontier = ${frontier} where ${ofFeed(run)}`);
}

/** Whether a number of the range was never read to its end. */
export async function hasUnread(
  db: Pick<Transaction, 'execute'>,
  { chain_id }: Feed,
  from: number,
  to: number,
): Promise<boolean> {
  const { rows } = await db.execute<{ read: number }>(sql`
    select count(*)::float8 as read
    from explorer.read_batches
    where chain_id = ${chain_id} and batch_number between ${from} and ${to}
  `);
  return to - from + 1 > (rows[0]?.read ?? 0);
}

/** What a run of numbered lists covers; each number is walked as a walk of its own. */
export type NumberedScope = {
  readonly from_batch?: number;
  readonly to_batch?: number;
  /** How many of the newest numbers are read again by each live run, and left to it by others. */
  readonly reread?: number;
  /** Whether what is not verified is read again now, whatever its interval: a person waits. */
  readonly at_once?: boolean;
};

export type NumberedRun = RunOf<NumberedScope>;
