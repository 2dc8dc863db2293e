import { sql, type SQL } from 'drizzle-orm';
import { execute, type Database } from '../../db/transaction.ts';
import { type Feed, hasRested, hasUnfinished, ofLane } from '../feed.ts';
import type { Occasion, Target } from '../list.ts';
import { cursorShape, knownBlockShape } from '../operation.ts';
import { follow, planSearch } from './probes.ts';
import {
  isBegun,
  isOf,
  isUnderWay,
  latestBatchOf,
  type NumberedScope,
  type Planned,
  type Planning,
  unreadRanges,
  walkOf,
  walksOf,
} from './walks.ts';
import { z } from 'zod';

/** Searches the latest batch first if none is named; then plans unverified and unread numbers. */
export async function planBackfillBatch(planning: Planning): Planned {
  const { tx, run, at } = planning;
  const from = run.scope.from_batch ?? 1;
  if (run.scope.to_batch === undefined && (await latestBatchOf(tx, run)) === null) {
    const probe = await planSearch(tx, run, from);
    if (probe !== null) return probe;
  }
  const top = run.scope.to_batch ?? (await latestBatchOf(tx, run));
  if (top === null) return null;
  const range = historyOf(run, run.scope, top, run.scope.at_once === true ? 'at-once' : at);
  return (
    (await planReread(planning, range)) ??
    (await planUnread(planning, from, top)) ??
    planLastRead(planning, range)
  );
}

/** The numbers that the backfill lane reads again: each live run reads the newest ones. */
function historyOf(
  feed: Feed,
  { from_batch: from = 1, to_batch, reread = 0 }: NumberedScope,
  top: number,
  at: Date | 'at-once',
): RereadRange {
  const isDueNow = at === 'at-once' ? sql`true` : isRested(feed, at);
  return { ...feed, from, to: to_batch ?? top - reread, isDueNow };
}

/**
 * Probes above the latest known batch, then plans new unread batches, then unverified ones of the newest `reread`: each
 * poll those that may have got blocks, others at growing intervals.
 */
export async function planLiveBatch(planning: Planning): Planned {
  const { tx, run, at } = planning;
  const latest = await latestBatchOf(tx, run);
  if (latest === null) return null;
  const { base, newest, poll } = await follow(tx, run, latest);
  if (poll !== null) return poll;
  const passed = await planUnread(planning, base + 1, newest);
  if (passed !== null) return passed;
  const { from_batch: lowest = 1, reread = 0 } = run.scope;
  // Reads the end of the previously newest batch once more, now that another builds on it.
  const from = Math.max(lowest, Math.min(newest - reread + 1, base));
  const isDueNow = sql`(${run.scope.at_once === true} or ${isFilling(run)} or ${isRested(run, at)})`;
  const range = { ...run, from, to: newest, isDueNow };
  return (await planReread(planning, range)) ?? planLastRead(planning, range);
}

/** The highest unread number that no walk has. */
async function planUnread({ tx, run }: Planning, from: number, top: number): Planned {
  const unread = await execute(tx).value(z.number)`
    select number::float8
    from (
      -- A series in the select list is lazy.
      select generate_series(upper(range) - 1, lower(range), -1) as number
      from (
        select range from unnest(${unreadRanges(run, from, top)}) as range order by range desc
      ) as unread
    ) as unread
    where not ${isUnderWay(run, sql`number`)}
      and not ${isBegun(run, sql`number`, false)}
    limit 1
  `;
  return unread === null ? null : walkOf(unread);
}

/** Live: if the latest batch is known, but not on start. Backfill: for walks that were left, unread numbers, and unverified ones that have rested. */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NumberedScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const latest = await latestBatchOf(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && latest !== null;
  if (await hasUnfinished(db, lane)) return true;
  const top = scope.to_batch ?? latest;
  if (top === null) {
    // A chain without batches is searched in growing intervals: a search is eight pages.
    const searches = sql`${ofLane(lane)} and scope ? 'probe'`;
    return occasion === 'sync' || execute(db).has`select where ${hasRested(searches, at)}`;
  }
  const range = historyOf(lane, scope, top, occasion === 'sync' ? 'at-once' : at);
  return execute(db).has`
    select where not isempty(${unreadRanges(lane, range.from, top)})
      or exists (select from etl.batch_states where ${isUnverified(range)})
  `;
}

/** Which batches that were read and are not verified are to be read again. */
interface RereadRange extends Feed {
  readonly from: number;
  readonly to: number;
  /** As SQL. */
  readonly isDueNow: SQL;
}

/** Batches that may wait above the highest verified one: newest, filling, awaiting an update. */
const headLimit = 3;

/** As SQL: the highest number to refetch; if many wait above the highest verified batch, the lowest few, which the others need. */
const readUpTo = (range: RereadRange) => sql`coalesce(
  (
    select lag(batch_number) over (order by batch_number)
    from etl.batch_states
    where ${isOf(range)} and not is_verified and blocks_count > 0
      and batch_number between ${range.from} and ${range.to}
      and batch_number > coalesce(
        (
          select max(batch_number) from etl.batch_states
          where ${isOf(range)} and state = 'settled'
            and batch_number between ${range.from} and ${range.to}
        ),
        -1
      )
    order by batch_number
    offset ${headLimit} limit 1
  ),
  ${range.to}::bigint
)`;

/** As SQL: more blocks may have come: there were none, the last read brought some, or the batch is a whole chain. */
const isFilling = (feed: Feed) => sql`(
  blocks_count = 0
  or is_chain
  or (
    select inserted > 0
    from etl.walks
    where ${walksOf(feed, sql`batch_number`)}
    order by id desc
    limit 1
  ) is true
)`;

/** As SQL: whether a batch has rested since it was last read. */
const isRested = (feed: Feed, at: Date) => hasRested(walksOf(feed, sql`batch_number`), at);

/** As SQL, over `etl.batch_states`: unverified, in range, and due. */
const isUnverified = (range: RereadRange) => sql`
  ${isOf(range)}
  and not is_verified
  and batch_number between ${range.from} and ${readUpTo(range)}
  and ${range.isDueNow}
`;

/** The newest batch of the range that is to be read again and that this run has not begun. */
const planReread = (planning: Planning, range: RereadRange): Planned =>
  walkAgain(
    planning,
    sql`${isUnverified(range)} and not ${isBegun(planning.run, sql`batch_number`)}`,
  );

/** How many walks of one number a run makes at most: the first, one down to known blocks, its end. */
const walksOfNumber = 3;

/** The newest begun number that lacks only another read of its end. Null while lower numbers are unread: they may be evidence. */
const planLastRead = (planning: Planning, range: RereadRange): Planned =>
  walkAgain(
    planning,
    sql`lacks_end
      and ${isOf(range)}
      and batch_number <= ${range.to}
      and batch_number >= coalesce(
        (
          select max(batch_number) from etl.batch_states
          where ${isOf(range)} and blocks_count > 0 and batch_number < ${range.from}
        ),
        ${range.from}
      )
      and (
        select count(*) between (batch_number >= ${range.from})::int and ${walksOfNumber - 1}
        from etl.walks
        where ${walksOf(range, sql`batch_number`)} and run_id = ${planning.run.id}
      )`,
  );

/** What `etl.batch_read` says of a batch: where its last page begins, and the block that a walk may end at. */
const batchReadShape = () =>
  z.object({
    wants: z.enum(['whole', 'top', 'bottom']),
    entry: cursorShape().nullable(),
    known: knownBlockShape().nullable(),
  });

/** Reads what can have changed of the newest of some numbers: down to a known block, the last page, or all. */
async function walkAgain({ tx, run }: Planning, those: SQL): Planned {
  const batch = await execute(tx).value(z.number)`
    select batch_number::float8
    from etl.batch_standing as standing
    where ${those} and not ${isUnderWay(run, sql`batch_number`)}
    -- By the column, not by what is selected: the index has them in order, so that only one is judged.
    order by standing.batch_number desc
    limit 1
  `;
  if (batch === null) return null;
  const read = await execute(tx).row(batchReadShape)`
    select wants, entry, known
    from etl.batch_read(${run.chain_id}, ${run.operation}, ${batch})
  `;
  // A repair that commits meanwhile makes it unread.
  if (read === null) return walkOf(batch);
  const { wants, entry, known } = read;
  if (wants === 'bottom') return { ...walkOf(batch), cursor: entry };
  return walkOf(batch, wants === 'top' && known !== null ? { known } : {});
}
