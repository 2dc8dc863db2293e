import { sql, type SQL } from 'drizzle-orm';
import { valueOf } from '../../db/query.ts';
import type { Database, Transaction } from '../../db/transaction.ts';
import { type Feed, type FeedLane, ofLane } from '../feed.ts';
import type { Occasion, Target, WalkPlan } from '../list.ts';
import type { NumberedWalk } from '../operation.ts';
import { hasRested } from '../pace.ts';
import { tablesOfFeed } from './list.ts';
import { hasReread, isHeadLong, planLastRead, planReread, type RereadRange } from './reread.ts';
import {
  begunBy,
  follow,
  hasUnread,
  isBegun,
  isSupposedGap,
  isUnderWay,
  latestBatchOf,
  type NumberedRun,
  type NumberedScope,
  planSearch,
  shown,
  walkOf,
} from './walks.ts';

/** Searches the latest batch first if none is named; then plans unverified and unread numbers. */
export async function planBackfillBatch(
  tx: Transaction,
  run: NumberedRun,
  at: Date,
): Promise<WalkPlan<NumberedWalk>> {
  const from = run.scope.from_batch ?? 1;
  if (run.scope.to_batch === undefined && (await latestBatchOf(tx, run)) === null) {
    const probe = await planSearch(tx, run, from);
    if (probe !== null) return probe;
  }
  const top = run.scope.to_batch ?? (await latestBatchOf(tx, run));
  if (top === null) return null;
  const range = historyOf(run, run.scope, top);
  const again = await planReread(tx, run, range, run.scope.at_once === true ? 'at-once' : at);
  if (again !== null) return again;
  const next = await nextUnread(tx, run, from);
  if (next !== null) return walkOf(next);
  return (await nextGap(tx, run, from, top)) ?? planLastRead(tx, run, range);
}

/** The numbers that the backfill lane reads again: each live run reads the newest ones. */
function historyOf(
  feed: Feed,
  { from_batch: from = 1, to_batch, reread = 0 }: NumberedScope,
  top: number,
): RereadRange {
  return { ...feed, from, to: to_batch ?? top - reread };
}

/**
 * Probes above the latest known batch, then plans new unread batches, then the unverified ones of
 * the newest `reread`, since a batch can be seen while it fills. If many are unverified, no poll
 * fixes what keeps them so: intervals grow.
 */
export async function planLiveBatch(
  tx: Transaction,
  run: NumberedRun,
  at: Date,
): Promise<WalkPlan<NumberedWalk>> {
  const latest = await latestBatchOf(tx, run);
  if (latest === null) return null;
  const { base, newest, poll } = await follow(tx, run, latest);
  if (poll !== null) return poll;
  const passed = await nextPassed(tx, run, base, newest);
  if (passed !== null) return passed;
  const { from_batch: lowest = 1, reread = 0 } = run.scope;
  const all = { chain_id: run.chain_id, operation: run.operation, from: lowest, to: newest };
  // The newest of before is seen to its end once more, now that another stands on it.
  const range = { ...all, from: Math.max(lowest, Math.min(newest - reread + 1, base)) };
  const when = (await isHeadLong(tx, all)) ? { restedBy: at } : 'at-once';
  return (await planReread(tx, run, range, when)) ?? planLastRead(tx, run, range);
}

async function nextPassed(
  tx: Transaction,
  run: NumberedRun,
  base: number,
  newest: number,
): Promise<WalkPlan<NumberedWalk>> {
  const { rows } = await tx.execute<{ number: number; is_gap: boolean }>(sql`
    select number::float8 as number, ${isSupposedGap(run, sql`number`)} as is_gap
    from (${unreadNumbers(run, base + 1, sql`${newest}::bigint`)}) as unread
    where not ${isUnderWay(run, sql`number`)} and not ${isBegun(run, sql`number`)}
    order by is_gap, number desc
    limit 1
  `);
  return rows[0] === undefined ? null : unlessGap(tx, run, rows[0]);
}

/**
 * As SQL: the unread numbers, highest first. Ranges, since a test of each number took seconds at a
 * hundred thousand; a series in the select list is lazy.
 */
const unreadNumbers = (run: NumberedRun, from: number, top: SQL) => sql`
  select generate_series(upper(range) - 1, lower(range), -1) as number
  from (
    select range
    from unnest(
      int8multirange(int8range(${from}::bigint, greatest(${top} + 1, ${from}::bigint))) - coalesce(
        (
          select range_agg(int8range(batch_number, batch_number + 1))
          from ${tablesOfFeed(run).states}
          where chain_id = ${run.chain_id} and batch_number between ${from} and ${top}
        ),
        '{}'
      )
    ) as range
    order by range desc
  ) as unread
`;

/** A supposed gap is read last: the walks under way may verify it empty. */
async function unlessGap(
  tx: Transaction,
  run: NumberedRun,
  { number, is_gap }: { readonly number: number; readonly is_gap: boolean },
): Promise<WalkPlan<NumberedWalk>> {
  if (!is_gap) return walkOf(number);
  return shown(await begunBy(tx, run)).isRunning ? 'wait' : walkOf(number);
}

/** The highest number that was skipped as a gap, and that the batches around it did not verify empty. */
async function nextGap(
  tx: Transaction,
  run: NumberedRun,
  from: number,
  top: number,
): Promise<WalkPlan<NumberedWalk>> {
  if (!(await hasUnread(tx, run, from, top))) return null;
  const unread = sql`
    select number::float8
    from (${unreadNumbers(run, from, sql`${top}::bigint`)}) as unread
    where not ${isUnderWay(run, sql`number`)} and not ${isBegun(run, sql`number`)}
    limit 1
  `;
  const number = await valueOf<number>(tx, unread);
  return number === null ? null : unlessGap(tx, run, { number, is_gap: true });
}

/** The highest unread number at or below the run's pointer; moves the pointer below it. */
const nextUnread = (tx: Transaction, run: NumberedRun, from: number) =>
  valueOf<number>(
    tx,
    sql`
    with pointer as (
      select coalesce(runs.next_batch, (scope ->> 'to_batch')::bigint, feeds.latest_batch) as top
      from etl.runs
      join etl.feeds using (feed)
      where runs.id = ${run.id}
    ), next as (
      select number
      from (${unreadNumbers(run, from, sql`(select top from pointer)`)}) as unread
      where not ${isUnderWay(run, sql`number`)} and not ${isSupposedGap(run, sql`number`)}
      limit 1
    )
    update etl.runs
    set next_batch = number - 1
    from next
    where id = ${run.id}
    returning number::float8
  `,
  );

/**
 * A live lane is due if the latest batch is known; on start it waits for its schedule. A backfill
 * lane is due for unread numbers, and for unverified ones after growing intervals or when a person
 * waits.
 */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NumberedScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const latest = await latestBatchOf(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && latest !== null;
  const top = scope.to_batch ?? latest;
  if (top === null) return occasion === 'sync' || hasSearchRested(db, lane, at);
  if (await hasUnread(db, lane, scope.from_batch ?? 1, top)) return true;
  return hasReread(db, historyOf(lane, scope, top), occasion === 'sync' ? 'at-once' : at);
}

/** A chain without batches is searched in growing intervals: a search is eight pages. */
async function hasSearchRested(db: Database, lane: FeedLane, at: Date): Promise<boolean> {
  const searches = sql`${ofLane(lane)} and scope ? 'probe'`;
  return (await valueOf<boolean>(db, sql`select ${hasRested(searches, at)}`)) ?? true;
}
