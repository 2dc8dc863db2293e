import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { type Feed, feedName, ofFeed } from '../feed.ts';
import type { Cursor } from '../operation.ts';

/** A range of blocks that no finished page verifies complete; both ends belong to it. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Whether anything of the feed is covered yet. */
export async function hasCoverage(tx: Pick<Transaction, 'execute'>, feed: Feed): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from etl.walks where ${ofFeed(feed)} and top is not null order by top limit 1
  `);
  return rows.length > 0;
}

/** Where the live lane last ended at its floor: what lies above was read by that walk. */
export interface LiveEnd {
  readonly cursor: Cursor;
  readonly bottom: number;
}

/** Null where no live walk has ended at its floor yet. */
export async function liveEnd(tx: Transaction, feed: Feed): Promise<LiveEnd | null> {
  const { rows } = await tx.execute<{ cursor: Cursor; bottom: string }>(sql`
    select cursor, bottom
    from etl.walks
    where ${ofFeed(feed)} and lane = 'live' and state = 'finished' and reason = 'floor'
      and cuts = 0 and cursor is not null and bottom is not null
    order by started_at desc, id desc
    limit 1
  `);
  const [row] = rows;
  return row === undefined ? null : { cursor: row.cursor, bottom: Number(row.bottom) };
}

/** The lowest block that is covered; 0 where the list's end was reached. */
export async function lowestCovered(tx: Pick<Transaction, 'execute'>, feed: Feed): Promise<number> {
  const { rows } = await tx.execute<{ lowest: string | null }>(
    sql`select lower(covered) as lowest from etl.feed_coverage where ${ofFeed(feed)}`,
  );
  return Number(rows[0]?.lowest ?? 0);
}

/** As SQL: whether a gap, a row of `etl.feed_gaps`, is none that a live walk under way has yet to read. */
export const isOpen = sql`not exists (
  select from etl.walks as walk
  join etl.runs as run on run.id = walk.run_id and run.state = 'open'
  where walk.feed = feed_gaps.feed
    and walk.lane = 'live'
    and walk.state = 'running'
    and walk.bottom is not null
    and int8range(coalesce(walk.floor, 0), walk.bottom, '[]') && gap
)`;

/** The gaps in a feed's coverage, the newest first. */
export async function gapsOf(tx: Pick<Transaction, 'execute'>, feed: Feed): Promise<Gap[]> {
  const { rows } = await tx.execute<{ from: string; to: string }>(sql`
    select lower(gap) as "from", upper(gap) - 1 as "to"
    from etl.feed_gaps
    where ${ofFeed(feed)} and ${isOpen}
    order by gap desc
  `);
  return rows.map(({ from, to }) => ({ from: Number(from), to: Number(to) }));
}

/**
 * The stored cursor nearest above a gap; null: only the head leads in. One at which a later walk
 * entered and met nothing above the gap does not count: its first item has left the list.
 */
export async function entryAbove(tx: Transaction, feed: Feed, gap: Gap): Promise<Cursor | null> {
  const { rows } = await tx.execute<{ cursor: Cursor }>(sql`
    select page.cursor_in as cursor
    from etl.pages as page
    where page.feed = ${feedName(feed)}
      and page.top > ${gap.to}
      and page.is_ordered
      and page.jumped is null
      and page.cursor_in is not null
      and not exists (
        select from etl.walks as entered
        join etl.pages as first on first.walk_id = entered.id and first.sequence = 0
        where entered.feed = ${feedName(feed)}
          and not entered.from_head
          and first.cursor_in = page.cursor_in
          and first.id > page.id
          and coalesce(first.top, 0) <= ${gap.to}
      )
    order by page.top, page.id desc
    limit 1
  `);
  return rows[0]?.cursor ?? null;
}

export interface Floor {
  readonly depthMs: number;
  /** The block that the walk has to go past. */
  readonly floor: number;
  /** The block that it is so deep below. */
  readonly from: number;
}

/** What live walks under way have yet to read, as a multirange: no gap, though it looks like one. */
const underWay = (feed: Feed) => sql`coalesce(
  (
    select range_agg(int8range(coalesce(floor, 0), bottom, '[]'))
    from etl.walks
    join etl.runs on runs.id = walks.run_id and runs.state = 'open'
    where walks.feed = ${feedName(feed)}
      and walks.lane = 'live'
      and walks.state = 'running'
      and bottom is not null
      and bottom >= coalesce(floor, 0)
  ),
  '{}'
)`;

/**
 * Stop heights for depths in ms, the shallowest first, below `below` or the covered top, by times
 * that neighbours confirm. There is none while nothing is covered, and none below the top's range:
 * what is under it is a gap, and read as one.
 */
export async function floorsOf(
  tx: Pick<Transaction, 'execute'>,
  feed: Feed,
  depthsMs: readonly number[],
  below: number | null = null,
): Promise<Floor[]> {
  const itemBelow = (place: SQL) =>
    sql`etl.confirmed_below(${feed.chain_id}, ${feed.operation}, ${place})`;
  const { rows } = await tx.execute<{ depth: number; floor: string; from: string }>(sql`
    with top as materialized (
      select least(highest, ${below}::bigint) as block,
             coalesce(
               (select max(lower(range)) from unnest(covered + ${underWay(feed)}) as range),
               highest
             ) as lowest
      from etl.feed_coverage
      where ${ofFeed(feed)} and highest is not null
    ), anchor as materialized (
      select block, least(lowest, block) as lowest,
             (select timestamp from ${itemBelow(sql`block, 'infinity'`)}) as at
      from top
    )
    select depth_ms as depth, block as "from",
           case when at is null then block else greatest(lowest, coalesce(
             (
               select height
               from ${itemBelow(sql`block, at - make_interval(secs => depth_ms / 1000)`)}
             ),
             0
           )) end as floor
    from anchor, unnest(${sql.param(depthsMs)}::float8[]) as depth_ms
    order by depth_ms
  `);
  return rows.map(({ depth, floor, from }) => ({
    depthMs: depth,
    floor: Number(floor),
    from: Number(from),
  }));
}
