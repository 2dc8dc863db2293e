import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { numberOf } from '../estimates.ts';
import { feedName, ofFeed, type Feed } from '../feed.ts';
import { itemsOf } from './items.ts';
import { gapsOf } from './coverage.ts';

/** What is known of a list. Times are ms since 1970. */
export interface ListFacts {
  /** Whether a page of it was read. */
  readonly isBegun: boolean;
  readonly gaps: readonly ListGap[];
  /** Items of the walks by the blocks that they went over. */
  readonly itemsPerBlock: number | null;
  readonly blockMs: number | null;
  /** Of the newest stored items: how many come in a day of block time. */
  readonly itemsPerDay: number | null;
}

/** Before the first page. */
export const nothingKnown: ListFacts = {
  isBegun: false,
  gaps: [],
  itemsPerBlock: null,
  blockMs: null,
  itemsPerDay: null,
};

interface ListGap {
  readonly from: number;
  readonly to: number;
  /** When the lowest item above it was. */
  readonly endsAt: number | null;
  /** Of the pages above and below it; null: none is known. */
  readonly near: NearDensity | null;
}

/** Items by the blocks that pages went over: of all of them, and of the densest one. */
interface NearDensity {
  readonly mean: number;
  readonly densest: number;
}

/** Pages on either side of a gap that tell how dense it may be. */
const nearPages = 5;

/** Newest stored items that tell the present rate: hours of a busy chain, months of a quiet one. */
const recentItems = 20_000;

/** What is known of how dense a list is, and of what is missing of it. */
export type ListDensity = Omit<ListFacts, 'itemsPerDay'>;

/** @throws nothing of its own: what is not known is null */
export async function listFacts(db: Database, feed: Feed): Promise<ListFacts> {
  return { ...(await listDensity(db, feed)), itemsPerDay: await itemsPerDay(db, feed) };
}

/** The facts without the present rate, for which thousands of items are read. */
export async function listDensity(db: Database, feed: Feed): Promise<ListDensity> {
  const { rows } = await db.execute<Record<'pages' | 'per_block' | 'block_ms', string | null>>(sql`
    with walked as (
      select sum(pages) as pages, sum(spanned_items) / nullif(sum(spanned_blocks), 0) as per_block
      from etl.lane_sums
      where ${ofFeed(feed)}
    ), stored as not materialized (
      -- Read twice, at either end: kept, it would be the whole table.
      select height, timestamp from ${itemsOf(feed)} and timestamp is not null
    ), span as (
      select high.height - low.height as blocks, high.timestamp - low.timestamp as time
      from (select * from stored order by height desc limit 1) as high,
           (select * from stored order by height limit 1) as low
    )
    select pages, per_block,
           (select 1000 * extract(epoch from time) / nullif(blocks, 0) from span) as block_ms
    from walked
  `);
  const [row] = rows;
  return {
    isBegun: (numberOf(row?.pages) ?? 0) > 0,
    gaps: await listGaps(db, feed),
    itemsPerBlock: numberOf(row?.per_block),
    blockMs: numberOf(row?.block_ms),
  };
}

async function itemsPerDay(db: Database, feed: Feed): Promise<number | null> {
  const { rows } = await db.execute<{ per_day: string | null }>(sql`
    with recent as (
      select count(*) - 1 as items, max(timestamp) - min(timestamp) as time
      from (
        select timestamp from ${itemsOf(feed)} and height >= coalesce(
          (
            select max(lower(range))
            from etl.feed_coverage, unnest(covered) as range
            where ${ofFeed(feed)}
          ),
          0
        )
        order by height desc
        limit ${recentItems}
      ) as newest
    )
    select 86400 * items / nullif(extract(epoch from time), 0) as per_day from recent
  `);
  return numberOf(rows[0]?.per_day);
}

async function listGaps(db: Database, feed: Feed): Promise<ListGap[]> {
  const gaps = await gapsOf(db, feed);
  const { rows } = await db.execute<{ ends_at: string | null; near: NearDensity | null }>(sql`
    select (
      select 1000 * extract(epoch from timestamp)
      from etl.item_above(${feed.chain_id}, ${feed.operation}, high + 1)
    ) as ends_at, (
      select json_build_object('mean', sum(items) / sum(blocks), 'densest', max(items / blocks))
      from (
        (${pagesBeside(feed, sql`top > high`, 'asc')}) union all (${pagesBeside(feed, sql`top < low`, 'desc')})
      ) as page(items, blocks)
      having sum(items) > 0
    ) as near
    from unnest(
      ${sql.param(gaps.map(({ from }) => from))}::bigint[], ${sql.param(gaps.map(({ to }) => to))}::bigint[]
    ) with ordinality as gap(low, high, place)
    order by place
  `);
  return gaps.map((gap, index) => ({
    ...gap,
    endsAt: numberOf(rows[index]?.ends_at),
    near: rows[index]?.near ?? null,
  }));
}

/** Pages that begin above a gap, or below it, the nearest first. One that goes over the gap itself is none. */
function pagesBeside(feed: Feed, where: SQL, order: 'asc' | 'desc'): SQL {
  return sql`
    select items::float8, top - bottom + 1
    from etl.pages
    where feed = ${feedName(feed)} and ${where} and not (top > high and bottom < low)
      and cursor_in is not null and is_ordered
    order by top ${sql.raw(order)}
    limit ${nearPages}
  `;
}
