import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { ofFeed, type Feed } from '../feed.ts';

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
      join explorer.read_batches
        on chain_id = ${feed.chain_id} and batch_number between ${from} and high
    ), under_way as (
      select coalesce(sum(items), 0) as blocks from etl.walks
      where ${ofFeed(feed)} and state = 'running'
    ), page as (
      select max(pages.items) as items
      from (
        select id from etl.walks where ${ofFeed(feed)} and pages > 1 order by started_at desc limit 20
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

/** Before the first page. */
export const nothingKnown: BatchFacts = {
  frontier: null,
  read: 0,
  blocks: 0,
  lowest: null,
  highest: null,
  recent: null,
  pageItems: null,
};
