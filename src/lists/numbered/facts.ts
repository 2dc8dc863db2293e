import { sql, type SQL } from 'drizzle-orm';

/** A batch whose newest block is known. */
export interface BatchPoint {
  readonly batch: number;
  readonly height: number;
  /** When that block was, in ms since 1970; null: not reported. */
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
  /** Blocks on the fullest page: what a page holds, whatever was requested. */
  readonly pageItems: number | null;
}

/** How far below the highest point the recent one is sought: a day of a busy chain. */
const recentBatches = 200;

/** The point of a batch in the wanted range `high` and below: the first one in an order, with its block's time. */
const pointOf = (order: 'asc' | 'desc', below: SQL = sql`true`) => sql`(
  select json_build_object('batch', batch, 'height', height, 'at', (
    select 1000 * extract(epoch from timestamp) from explorer.blocks
    where blocks.chain_id = feeds.chain_id and blocks.height = point.height
  ))
  from (
    select batch, top as height
    from etl.walks
    where walks.feed = feeds.feed and batch between low and high and top is not null and ${below}
    order by batch ${sql.raw(order)}, top desc
    limit 1
  ) as point
)`;

/** As SQL, over a row of `feeds`: what is known of the batches that its settings want, up to the latest known batch. */
export const facts = sql`(
  select json_build_object(
    'frontier', feeds.frontier,
    'read', done.read,
    'blocks', done.blocks + under_way.blocks,
    'lowest', ${pointOf('asc')},
    'highest', ${pointOf('desc')},
    'recent', ${pointOf('desc', sql`batch <= high - ${recentBatches}::bigint`)},
    'pageItems', page.items
  )
  from (
    select (feeds.settings ->> 'fromBatch')::bigint as low,
           coalesce((feeds.settings ->> 'toBatch')::bigint, feeds.frontier) as high
  ) as range, lateral (
    select count(*) as read, coalesce(sum(blocks_count), 0) as blocks
    from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and batch_number between low and high
  ) as done, lateral (
    select coalesce(sum(items), 0) as blocks from etl.walks
    where walks.feed = feeds.feed and state = 'running'
  ) as under_way, lateral (
    select max(pages.items) as items
    from (
      select id from etl.walks
      where walks.feed = feeds.feed and pages > 1
      order by started_at desc
      limit 20
    ) as newest
    join etl.pages on walk_id = newest.id
  ) as page
)`;

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
