import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { gapsOf } from '../coverage.ts';
import type { Feed } from '../feed.ts';

/** What every feed's ledger tells. */
export interface LedgerFacts {
  readonly requests: number;
  readonly credits: number;
  /** How long the newest answers took, in ms; null before the first. */
  readonly latencyMs: number | null;
}

/** What is known of a list of user operations. Times are ms since 1970. */
export interface ListFacts {
  /** Whether a page of it was read. */
  readonly isBegun: boolean;
  readonly gaps: readonly ListGap[];
  /** Items of the walks by the blocks that they went over. */
  readonly itemsPerBlock: number | null;
  readonly blockMs: number | null;
  /** Of the newest stored operations: how many come in a day of block time. */
  readonly itemsPerDay: number | null;
}

interface ListGap {
  readonly from: number;
  readonly to: number;
  /** When the lowest operation above it was. */
  readonly endsAt: number | null;
}

/** A batch whose newest block is known. */
export interface BatchPoint {
  readonly batch: number;
  readonly height: number;
  /** When that block was, in ms since 1970; null: not told. */
  readonly at: number | null;
}

/** What is known of the batches of a range. */
export interface BatchFacts {
  readonly frontier: number | null;
  /** Numbers of the range that were read to their end, and the blocks read in the range. */
  readonly read: number;
  readonly blocks: number;
  readonly lowest: BatchPoint | null;
  readonly highest: BatchPoint | null;
  /** Some hundred numbers below the highest, for what is usual now. */
  readonly recent: BatchPoint | null;
  /** Blocks on the fullest page: what a page holds, whatever was asked for. */
  readonly pageItems: number | null;
}

/** What is known of a census. */
export interface CensusFacts {
  /** Requests of the last finished ones, on average; null before the first. */
  readonly requests: number | null;
}

const ofFeed = ({ chain_id, operation }: Feed) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;

const numberOf = (value: string | number | null | undefined) =>
  value === null || value === undefined ? null : Number(value);

/** What a feed has cost so far, and how fast it is answered. */
export async function ledgerFacts(db: Database, feed: Feed): Promise<LedgerFacts> {
  const { rows } = await db.execute<Record<'requests' | 'credits' | 'latency', string | null>>(sql`
    with newest as (
      select id from etl.walks where ${ofFeed(feed)} and pages > 0 order by id desc limit 20
    )
    select count(*) as requests,
           sum(credits) as credits,
           (
             select avg(latency_ms)
             from (
               select latency_ms from etl.pages join newest on newest.id = walk_id
               order by pages.id desc
               limit 200
             ) as answer
           ) as latency
    from etl.walks
    join etl.pages on walk_id = walks.id
    where ${ofFeed(feed)}
  `);
  return {
    requests: numberOf(rows[0]?.requests) ?? 0,
    credits: numberOf(rows[0]?.credits) ?? 0,
    latencyMs: numberOf(rows[0]?.latency),
  };
}

/** Requests that were made since a moment, by all feeds of the database. */
export async function requestsSince(db: Database, from: Date, to: Date): Promise<number> {
  const { rows } = await db.execute<{ requests: string }>(sql`
    select coalesce(sum(attempts), 0) as requests
    from etl.walks
    join etl.pages on walk_id = walks.id
    where walks.updated_at >= ${from.toISOString()}::timestamptz
      and fetched_at >= ${from.toISOString()}::timestamptz
      and fetched_at < ${to.toISOString()}::timestamptz
  `);
  return Number(rows[0]?.requests ?? 0);
}

/** Newest stored operations that tell the present rate: hours of a busy chain, months of a quiet one. */
const recentOperations = 50_000;

/** @throws nothing of its own: what is not known is null */
export async function listFacts(db: Database, feed: Feed): Promise<ListFacts> {
  const { rows } = await db.execute<
    Record<'pages' | 'per_block' | 'block_ms' | 'per_day', string | null>
  >(sql`
    with walked as (
      select sum(pages) as pages,
             sum(items) filter (where cuts = 0 and top > bottom)
               / nullif(sum(top - bottom) filter (where cuts = 0 and top > bottom), 0) as per_block
      from etl.walks
      where ${ofFeed(feed)}
    ), stored as (
      select block_number, timestamp from explorer.user_operations
      where chain_id = ${feed.chain_id} and block_number is not null and timestamp is not null
    ), span as (
      select high.block_number - low.block_number as blocks, high.timestamp - low.timestamp as time
      from (select * from stored order by block_number desc limit 1) as high,
           (select * from stored order by block_number limit 1) as low
    ), recent as (
      select count(*) - 1 as items, max(timestamp) - min(timestamp) as time
      from (
        select timestamp from explorer.user_operations
        where chain_id = ${feed.chain_id} and block_number >= coalesce(
          (
            select max(lower(range))
            from etl.feed_coverage, unnest(covered) as range
            where ${ofFeed(feed)}
          ),
          0
        )
        order by block_number desc
        limit ${recentOperations}
      ) as newest
    )
    select pages, per_block,
           (select 1000 * extract(epoch from time) / nullif(blocks, 0) from span) as block_ms,
           (select 86400 * items / nullif(extract(epoch from time), 0) from recent) as per_day
    from walked
  `);
  const [row] = rows;
  return {
    isBegun: (numberOf(row?.pages) ?? 0) > 0,
    gaps: await listGaps(db, feed),
    itemsPerBlock: numberOf(row?.per_block),
    blockMs: numberOf(row?.block_ms),
    itemsPerDay: numberOf(row?.per_day),
  };
}

async function listGaps(db: Database, feed: Feed): Promise<ListGap[]> {
  const gaps = await gapsOf(db, feed);
  const { rows } = await db.execute<{ ends_at: string | null }>(sql`
    select (
      select 1000 * extract(epoch from timestamp)
      from explorer.user_operations
      where chain_id = ${feed.chain_id} and block_number > top and timestamp is not null
      order by block_number
      limit 1
    ) as ends_at
    from unnest(${sql.param(gaps.map(({ to }) => to))}::bigint[]) with ordinality as gap(top, place)
    order by place
  `);
  return gaps.map((gap, index) => ({ ...gap, endsAt: numberOf(rows[index]?.ends_at) }));
}

/** How far below the highest point the recent one is sought: a day of a busy chain. */
const recentBatches = 200;

/** The point of a batch in a range `range`: the first one in an order, with the time of its block. */
const pointOf = (feed: Feed, from: number, order: 'asc' | 'desc', below: SQL = sql`true`) => sql`(
  select json_build_object('batch', batch, 'height', height, 'at', (
    select 1000 * extract(epoch from timestamp) from explorer.blocks
    where chain_id = ${feed.chain_id} and blocks.height = point.height
  ))
  from (
    select batch, top as height
    from range, etl.walks
    where ${ofFeed(feed)} and batch between ${from} and high and top is not null and ${below}
    order by batch ${sql.raw(order)}, top desc
    limit 1
  ) as point
)`;

/** What is known of the batches from a number up to another, or to the frontier. */
export async function batchFacts(
  db: Database,
  feed: Feed,
  from: number,
  to: number | null,
): Promise<BatchFacts> {
  const { rows } = await db.execute<{ facts: BatchFacts }>(sql`
    with range as (
      select frontier, coalesce(${to}::bigint, frontier) as high
      from etl.feeds
      where ${ofFeed(feed)}
    ), done as (
      select count(*) as read, coalesce(sum(blocks_count), 0) as blocks
      from range
      join explorer.optimism_batches
        on chain_id = ${feed.chain_id} and batch_number between ${from} and high
    ), under_way as (
      select coalesce(sum(items), 0) as blocks from etl.walks
      where ${ofFeed(feed)} and state = 'running'
    ), page as (
      select max(pages.items) as items
      from (
        select id from etl.walks where ${ofFeed(feed)} and pages > 1 order by id desc limit 20
      ) as newest
      join etl.pages on walk_id = newest.id
    )
    select json_build_object(
      'frontier', frontier,
      'read', done.read,
      'blocks', done.blocks + under_way.blocks,
      'lowest', ${pointOf(feed, from, 'asc')},
      'highest', ${pointOf(feed, from, 'desc')},
      'recent', ${pointOf(feed, from, 'desc', sql`batch <= high - ${recentBatches}::bigint`)},
      'pageItems', page.items
    ) as facts
    from range, done, under_way, page
  `);
  return rows[0]?.facts ?? nothingKnown;
}

const nothingKnown: BatchFacts = {
  frontier: null,
  read: 0,
  blocks: 0,
  lowest: null,
  highest: null,
  recent: null,
  pageItems: null,
};

/** How many of the last censuses make the average. */
const lastCensuses = 10;

/** What the last censuses of a feed took. */
export async function censusFacts(db: Database, feed: Feed): Promise<CensusFacts> {
  const { rows } = await db.execute<{ requests: string | null }>(sql`
    select avg(pages) as requests
    from (
      select sum(walks.pages) as pages
      from etl.ticks
      join etl.walks on walks.tick_id = ticks.id
      where ticks.chain_id = ${feed.chain_id} and ticks.operation = ${feed.operation}
        and ticks.state = 'finished'
      group by ticks.id
      having bool_or(walks.state = 'finished' and walks.reason is distinct from 'max-pages')
      order by ticks.id desc
      limit ${lastCensuses}
    ) as census
  `);
  return { requests: numberOf(rows[0]?.requests) };
}
