import { sql, type SQL } from 'drizzle-orm';
import { about, atLeast, dayMs, type Estimate, halfPage, none, upTo } from '../list.ts';

/** Pages of a batch, as chains have them (docs/api-costs.md). */
const usualPages = { least: 3, most: 29 };

/** What is left of the batches of a range. */
export function batchHistory(
  facts: BatchFacts,
  range: { readonly from: number; readonly to: number | null; readonly pageSize: number },
): Estimate {
  const high = range.to ?? facts.latestBatch;
  if (high === null) return atLeast(1);
  const numbers = Math.max(0, high - range.from + 1);
  const unread = Math.max(0, numbers - facts.read);
  if (unread === 0) return none;
  const usual = blocksPerNumber(facts, facts.lowest);
  if (usual === null) return upTo(unread * usualPages.least, unread * usualPages.most);
  // What is left of the blocks that must be there, but never far from what is usual.
  const rest = (usual * numbers - facts.blocks) / unread;
  const blocks = Math.min(Math.max(rest, usual / 2), usual * 2);
  return about(unread * pagesOf(blocks, facts, range.pageSize));
}

/** Numbers that a poll tries where the one above the newest batch was new. */
const pollsAtNews = 3;

/** What it takes a day to follow the newest batches. */
export function batchUpkeep(
  facts: BatchFacts,
  settings: {
    readonly pollsPerDay: number;
    readonly reread: number;
    readonly to: number | null;
    readonly pageSize: number;
  },
): Estimate {
  const { pollsPerDay, reread, to, pageSize } = settings;
  if (to !== null) return none;
  const below = facts.recent ?? facts.lowest;
  const blocks = blocksPerNumber(facts, below);
  const { highest } = facts;
  if (blocks === null || highest === null || below === null) {
    return atLeast(pollsPerDay);
  }
  if (highest.at === null || below.at === null || highest.at <= below.at) {
    return atLeast(pollsPerDay);
  }
  const newPerDay = ((highest.batch - below.batch) * dayMs) / (highest.at - below.at);
  const polls = pollsPerDay + Math.min(pollsPerDay, newPerDay) * (pollsAtNews - 1);
  const least = polls + newPerDay * pagesOf(blocks, facts, pageSize);
  // Batches are read again only until they are verified.
  return upTo(least, least + pollsPerDay * reread);
}

/** Blocks per number, gaps among them, between a point and the highest; null: not known. */
function blocksPerNumber(
  { highest, read, blocks }: BatchFacts,
  below: BatchPoint | null,
): number | null {
  if (highest !== null && below !== null && highest.batch > below.batch) {
    return (highest.height - below.height) / (highest.batch - below.batch);
  }
  return read > 0 ? blocks / read : null;
}

const pagesOf = (blocks: number, { pageItems }: BatchFacts, pageSize: number) =>
  Math.max(1, blocks / (pageItems ?? pageSize) + halfPage);

export interface BatchPoint {
  readonly batch: number;
  readonly height: number;
  /** When that block was, in ms since 1970; null: not reported. */
  readonly at: number | null;
}

export interface BatchFacts {
  readonly latestBatch: number | null;
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
    select 1000 * extract(epoch from timestamp) from etl.batch_blocks as block
    where block.chain_id = feeds.chain_id
      and block.operation = feeds.operation
      and block.height = point.height
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
    'latestBatch', feeds.latest_batch,
    'read', done.read,
    'blocks', done.blocks + under_way.blocks,
    'lowest', ${pointOf('asc')},
    'highest', ${pointOf('desc')},
    'recent', ${pointOf('desc', sql`batch <= high - ${recentBatches}::bigint`)},
    'pageItems', page.items
  )
  from (
    select (feeds.settings ->> 'fromBatch')::bigint as low,
           coalesce((feeds.settings ->> 'toBatch')::bigint, feeds.latest_batch) as high
  ) as range, lateral (
    select count(*) as read, coalesce(sum(blocks_count), 0) as blocks
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch_number between low and high
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

export const nothingKnown: BatchFacts = {
  latestBatch: null,
  read: 0,
  blocks: 0,
  lowest: null,
  highest: null,
  recent: null,
  pageItems: null,
};
