import { sql } from 'drizzle-orm';
import { hasRows, type Queryable, valueOf } from '../../db/query.ts';
import type { Transaction } from '../../db/transaction.ts';
import { type Feed, feedName } from '../feed.ts';
import type { PlannedWalk } from '../list.ts';
import type { Cursor, KnownBlock, NumberedWalk } from '../operation.ts';
import { hasRested } from '../pace.ts';
import { tablesOfFeed } from './list.ts';
import { isBegun, isUnderWay, type NumberedRun, walkOf } from './walks.ts';

/** Which batches that were read and are not verified are to be read again. */
export interface RereadRange extends Feed {
  readonly from: number;
  readonly to: number;
}

/** Batches that may wait above the highest verified one: newest, filling, awaiting an update. */
const headLimit = 3;

/** As SQL: the highest number to refetch; if many wait, the lowest few, which the others need. */
const readUpTo = (range: RereadRange) => sql`coalesce(
  (
    select max(batch_number)
    from (
      select batch_number,
             count(*) over () as waiting, row_number() over (order by batch_number) as place
      from ${tablesOfFeed(range).states}
      where chain_id = ${range.chain_id}
        and not is_verified
        and blocks_count > 0
        and batch_number between ${range.from} and ${range.to}
        and batch_number > ${highestSettled(range)}
    ) as head
    where place <= ${headLimit} and waiting > ${headLimit}
  ),
  ${range.to}::bigint
)`;

const highestSettled = (range: RereadRange) => sql`coalesce(
  (
    select max(batch_number) from ${tablesOfFeed(range).states}
    where chain_id = ${range.chain_id}
      and state = 'settled'
      and batch_number between ${range.from} and ${range.to}
  ),
  -1
)`;

export async function isHeadLong(db: Queryable, range: RereadRange): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from ${tablesOfFeed(range).states}
    where chain_id = ${range.chain_id}
      and not is_verified
      and blocks_count > 0
      and batch_number between ${range.from} and ${range.to}
      and batch_number > ${highestSettled(range)}
    limit ${headLimit + 1}
  `);
  return rows.length > headLimit;
}

/** As SQL: more blocks may have come: the last read brought some, or the batch is a whole chain. */
const isFilling = (range: RereadRange) => sql`(
  (is_contiguous and is_linked) is true
  or coalesce(
    (
      select inserted > 0
      from etl.walks
      where walks.batch = batch_number and walks.feed = ${feedName(range)}
      order by id desc
      limit 1
    ),
    false
  )
)`;

/** When unverified batches are read again: after a rest, or at once; or filling ones at once. */
export type RereadTime = Date | 'at-once' | { readonly restedBy: Date };

/** As SQL, over rows of `batch`: unverified, in range, and rested unless all are wanted at once. */
const isDue = (range: RereadRange, at: RereadTime) => sql`
  batch.chain_id = ${range.chain_id}
  and not is_verified
  and batch_number between ${range.from} and ${readUpTo(range)}
  ${
    at === 'at-once'
      ? sql``
      : sql`and (${at instanceof Date ? sql`false` : isFilling(range)} or ${hasRested(
          sql`walks.batch = batch_number and walks.feed = ${feedName(range)}`,
          at instanceof Date ? at : at.restedBy,
        )})`
  }
`;

/** Whether a batch of the range is to be read again. */
export const hasReread = (db: Queryable, range: RereadRange, at: Date | 'at-once') =>
  hasRows(
    db,
    sql`select from ${tablesOfFeed(range).states} as batch where ${isDue(range, at)} limit 1`,
  );

/** The newest batch of the range that is to be read again and that this run has not begun. */
export async function planReread(
  tx: Transaction,
  run: NumberedRun,
  range: RereadRange,
  at: RereadTime,
): Promise<PlannedWalk<NumberedWalk> | null> {
  const next = sql`
    select batch_number::float8
    from ${tablesOfFeed(range).states} as batch
    where ${isDue(range, at)}
      and not ${isBegun(run, sql`batch_number`)}
      and not ${isUnderWay(run, sql`batch_number`)}
    order by batch_number desc
    limit 1
  `;
  return walkAgain(tx, range, await valueOf<number>(tx, next));
}

/** How many walks of one number a run makes at most: the first, one down to known blocks, its end. */
const walksOfNumber = 3;

/**
 * The newest begun number that lacks only another read of its end: read to a known block, the
 * lowest, empty below that, or below the range. Null while lower numbers are unread: they may be
 * evidence.
 */
export async function planLastRead(
  tx: Transaction,
  run: NumberedRun,
  range: RereadRange,
): Promise<PlannedWalk<NumberedWalk> | null> {
  const { chain_id, operation, from, to } = range;
  const { states } = tablesOfFeed(range);
  const next = sql`
    select batch_number::float8
    from etl.batch_standing
    where not is_verified
      and chain_id = ${chain_id}
      and operation = ${operation}
      and floor is not null
      and batch_number <= ${to}
      and batch_number >= coalesce(
        (
          select max(batch_number) from ${states}
          where chain_id = ${chain_id} and blocks_count > 0 and batch_number < ${from}
        ),
        ${from}
      )
      and above is not null
      and (
        -- A lowest one that was seen twice waits for the empty numbers below it.
        wants = 'bottom' and not (is_lowest and times_seen > 1)
        or blocks_count = 0 and bottom is null and times_seen = 1 and is_lowest
      )
      and not (is_lowest and has_unread_below)
      and (
        select count(*) between (batch_number >= ${from})::int and ${walksOfNumber - 1} from etl.walks
        where walks.batch = batch_number
          and walks.feed = ${feedName(run)}
          and walks.run_id = ${run.id}
      )
      and not ${isUnderWay(run, sql`batch_number`)}
    order by batch_number desc
    limit 1
  `;
  return walkAgain(tx, range, await valueOf<number>(tx, next));
}

/** Reads what can have changed: down to a known block, the last page, or the whole batch. */
async function walkAgain(
  tx: Transaction,
  feed: Feed,
  batch: number | null,
): Promise<PlannedWalk<NumberedWalk> | null> {
  if (batch === null) return null;
  const wants = await valueOf<'whole' | 'top' | 'bottom'>(
    tx,
    sql`
      select wants from etl.batch_standing
      where chain_id = ${feed.chain_id}
        and operation = ${feed.operation}
        and batch_number = ${batch}
    `,
  );
  if (wants === 'bottom') {
    return { ...walkOf(batch), cursor: await lastEntry(tx, feed, batch) };
  }
  const known = wants === 'top' ? await knownBlock(tx, feed, batch) : null;
  return walkOf(batch, known === null ? {} : { known });
}

/** The cursor of the last page with blocks of the newest walk to a batch's end; null: the first page. */
const lastEntry = (tx: Transaction, feed: Feed, batch: number) =>
  valueOf<Cursor>(
    tx,
    sql`
      select page.cursor_in
      from etl.walks as walk
      join etl.pages as page on page.walk_id = walk.id
      where walk.batch = ${batch}
        and walk.feed = ${feedName(feed)}
        and walk.state = 'finished'
        and walk.reason is null
        and page.rows > 0
      order by walk.id desc, page.sequence desc
      limit 1
    `,
  );

/** A batch's highest block, or the one below its lowest pending one; null: it is read whole. */
async function knownBlock(tx: Transaction, feed: Feed, batch: number): Promise<KnownBlock | null> {
  const { chain_id: chainId } = feed;
  const { blocks, states, number } = tablesOfFeed(feed);
  const { rows } = await tx.execute<{ height: number; hash: string }>(sql`
    select block.height::float8 as height, block.hash
    from ${states} as batch
    left join lateral (
      select min(height) as height
      from ${blocks}
      where chain_id = ${chainId} and ${number} = ${batch} and is_pending_update
    ) as pending on true
    join ${blocks} as block
      on block.chain_id = ${chainId}
      and block.${number} = ${batch}
      and block.height = coalesce(pending.height - 1, batch.last_height)
    where batch.chain_id = ${chainId} and batch.batch_number = ${batch}
  `);
  return rows[0] ?? null;
}
