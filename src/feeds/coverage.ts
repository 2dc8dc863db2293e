import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { Cursor } from '../operations/operation.ts';
import type { Feed } from './feed.ts';

/** A range of blocks that no finished page proves complete; both ends belong to it. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

const ofFeed = ({ chain_id, operation }: Feed) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;

/** Whether no walk of a feed, a row of `feed`, has gone to the end of its list; as SQL. */
export const neverWalkedWhole = (feed: SQL) => sql`not exists (
  select from etl.walks
  where walks.chain_id = ${feed}.chain_id
    and walks.operation = ${feed}.operation
    and walks.state = 'finished'
    and walks.reason is null
)`;

/** Whether anything of the feed is covered yet. */
export async function hasCoverage(tx: Pick<Transaction, 'execute'>, feed: Feed): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select from etl.feed_coverage where ${ofFeed(feed)} and highest is not null`,
  );
  return rows.length > 0;
}

/** The holes in a feed's coverage, the newest first. */
export async function gapsOf(tx: Pick<Transaction, 'execute'>, feed: Feed): Promise<Gap[]> {
  const { rows } = await tx.execute<{ from: string; to: string }>(sql`
    select lower(gap) as "from", upper(gap) - 1 as "to"
    from etl.feed_gaps
    where ${ofFeed(feed)}
      and not exists (
        select from etl.walks as walk
        join etl.ticks as tick on tick.id = walk.tick_id and tick.state = 'open'
        where walk.chain_id = feed_gaps.chain_id
          and walk.operation = feed_gaps.operation
          and walk.lane = 'live'
          and walk.state = 'running'
          and walk.is_ordered
          and walk.bottom is not null
          and int8range(coalesce(walk.floor, 0), walk.bottom, '[]') && gap
      )
    order by gap desc
  `);
  return rows.map(({ from, to }) => ({ from: Number(from), to: Number(to) }));
}

/**
 * The stored cursor from which a gap is reached with the fewest pages: that of the lowest page
 * that begins above it. Null where no such page is known: the head is the only way in.
 */
export async function entryAbove(tx: Transaction, feed: Feed, gap: Gap): Promise<Cursor | null> {
  const { rows } = await tx.execute<{ cursor: Cursor }>(sql`
    select page.cursor_in as cursor
    from etl.walks as walk
    join etl.pages as page on page.walk_id = walk.id
    where walk.chain_id = ${feed.chain_id}
      and walk.operation = ${feed.operation}
      and walk.kind = 'sweep'
      and walk.top > ${gap.to}
      and page.top > ${gap.to}
      and page.is_ordered
      and page.cursor_in is not null
    order by page.top, page.id desc
    limit 1
  `);
  return rows[0]?.cursor ?? null;
}

/**
 * The block that a live walk has to go past: `overlapMs` below the top of what is covered or being
 * covered, because rows arrive behind the head. Null while nothing is covered: then there is no
 * list to keep current yet.
 */
export async function liveFloor(
  tx: Transaction,
  feed: Feed,
  overlapMs: number,
): Promise<number | null> {
  const { rows } = await tx.execute<{ floor: string | null }>(sql`
    with anchor as (
      select highest, covered,
             (
               select timestamp from explorer.user_operations
               where chain_id = ${feed.chain_id}
                 and block_number <= highest
                 and timestamp is not null
               order by block_number desc
               limit 1
             ) as at
      from etl.feed_coverage
      where ${ofFeed(feed)} and highest is not null
    )
    select case when at is null then highest else greatest(coalesce(
      (
        select block_number from explorer.user_operations
        where chain_id = ${feed.chain_id}
          and block_number <= highest
          and timestamp < at - make_interval(secs => ${overlapMs / 1000})
        order by block_number desc
        limit 1
      ),
      0
    ), coalesce((select max(lower(range)) from unnest(covered) as range), highest)) end as floor
    from anchor
  `);
  const floor = rows[0]?.floor;
  return floor === null || floor === undefined ? null : Number(floor);
}
