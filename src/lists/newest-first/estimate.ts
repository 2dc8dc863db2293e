import { sql, type SQL } from 'drizzle-orm';
import { about, atLeast, dayMs, type Estimate, halfPage, likelyUpTo, none, upTo } from '../list.ts';
import type { ListUnit } from '../operation.ts';
import { isOpen } from './coverage.ts';
import type { ResweepRule } from './settings.ts';

/** No operation is older: the first ERC-4337 entry point the service lists was deployed then. */
export const firstOperationAt = Date.UTC(2023, 2, 1);

/** What is left of a list's history. */
export function listHistory(
  { isBegun, gaps, itemsPerBlock, blockMs }: ListFacts,
  {
    pageSize,
    since,
    unit,
  }: { readonly pageSize: number; readonly since: string | null; readonly unit: ListUnit },
): Estimate {
  if (!isBegun) return atLeast(1);
  if (gaps.length === 0) return none;
  if (itemsPerBlock === null) return atLeast(gaps.length);
  const limit = since === null ? firstOperationAt : Date.parse(since);
  // Batches are numbered from the first one on: that there are none below 0 is bound enough.
  const isBounded = since !== null || unit === 'blocks';
  let isStartKnown = true;
  let least = 0;
  let most = 0;
  for (const { from, to, endsAt, near } of gaps) {
    const blocks = to - from + 1;
    const isTimed = isBounded && from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
    const inGap = isTimed ? blocksSince(limit, endsAt, blockMs, blocks) : blocks;
    const pagesAt = (density: number) => (density * inGap) / pageSize + halfPage;
    if (from === 0 && unit === 'blocks' && (since === null || !isTimed)) {
      // The list may begin just below what was read: one page reports so.
      isStartKnown = false;
      least += Math.min(1, pagesAt(itemsPerBlock));
      most += pagesAt(itemsPerBlock);
      continue;
    }
    // History is as all that was read of it, a gap in the middle as what is around it.
    const density = from === 0 || near === null ? itemsPerBlock : near.mean;
    least += pagesAt(density);
    most += pagesAt(Math.max(density, near?.densest ?? 0));
  }
  return isStartKnown ? likelyUpTo(least, most) : upTo(least, most);
}

const blocksSince = (limit: number, endsAt: number, blockMs: number, blocks: number) =>
  Math.min(blocks, Math.max(0, endsAt - limit) / blockMs);

/** What it takes a day to keep a list current. */
export function listUpkeep(
  { isBegun, itemsPerDay }: ListFacts,
  settings: {
    readonly pageSize: number;
    readonly overlapMs: number;
    readonly pollsPerDay: number;
    readonly resweeps: readonly ResweepRule[];
  },
): Estimate {
  const { pageSize, overlapMs, pollsPerDay, resweeps } = settings;
  if (!isBegun) return atLeast(pollsPerDay);
  const pagesPerDay = (itemsPerDay ?? 0) / pageSize;
  const ofNewAndOverlap = pagesPerDay * (1 + (pollsPerDay * overlapMs) / dayMs);
  // A poll ends when it has gone past what is known: in the middle of a page, or on its first one.
  const polls = Math.max(pollsPerDay, ofNewAndOverlap + pollsPerDay * halfPage);
  const again = resweeps.reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  return about(polls + again * pagesPerDay);
}

/** What is known of a list. Times are ms since 1970. */
export interface ListFacts {
  readonly isBegun: boolean;
  readonly gaps: readonly ListGap[];
  /** Items of the walks by the blocks that they went over. */
  readonly itemsPerBlock: number | null;
  readonly blockMs: number | null;
  /** Of the newest stored items: how many come in a day of block time. */
  readonly itemsPerDay: number | null;
}

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

/** Pages on either side of a gap that show how dense it may be. */
const nearPages = 5;

/** Newest stored items that show the present rate: hours of a busy chain, months of a quiet one. */
const recentItems = 20_000;

/** Pages that begin above a gap, or below it, the nearest first. One that goes over the gap itself is none. */
const pagesBeside = (where: SQL, order: 'asc' | 'desc') => sql`
  select items::float8, top - bottom + 1
  from etl.pages
  where pages.feed = feeds.feed and ${where} and not (top > high and bottom < low)
    and cursor_in is not null and is_ordered
  order by top ${sql.raw(order)}
  limit ${nearPages}
`;

/** As SQL, over a row of `feeds`: its gaps, the newest first, each with the pages on either side of it. */
const gaps = sql`(
  select coalesce(json_agg(json_build_object(
    'from', low,
    'to', high,
    'endsAt', (
      select 1000 * extract(epoch from timestamp)
      from etl.item_above(feeds.chain_id, feeds.operation, high + 1)
    ),
    'near', (
      select json_build_object('mean', sum(items) / sum(blocks), 'densest', max(items / blocks))
      from (
        (${pagesBeside(sql`top > high`, 'asc')}) union all (${pagesBeside(sql`top < low`, 'desc')})
      ) as page(items, blocks)
      having sum(items) > 0
    )
  ) order by high desc), '[]')
  from (
    select lower(gap) as low, upper(gap) - 1 as high from etl.feed_gaps
    where feed_gaps.feed = feeds.feed and ${isOpen}
  ) as gap
)`;

const top = sql`9223372036854775807`;

/** As SQL, over a row of `feeds`: how dense its list is, and what is missing of it. */
const density = sql`(
  select jsonb_build_object(
    'isBegun', coalesce(pages, 0) > 0,
    'itemsPerBlock', per_block,
    'blockMs', (
      select 1000 * extract(epoch from high.timestamp - low.timestamp)
               / nullif(high.height - low.height, 0)
      from etl.items_below(feeds.chain_id, feeds.operation, ${top}, 'infinity', 1) as high,
           etl.item_above(feeds.chain_id, feeds.operation, 0) as low
    ),
    'gaps', ${gaps}
  )
  from (
    select sum(pages) as pages, sum(spanned_items) / nullif(sum(spanned_blocks), 0) as per_block
    from etl.coverage
    where coverage.feed = feeds.feed
  ) as walked
)`;

/** As SQL, over a row of `feeds`: `ListFacts`. */
export const facts = sql`(
  ${density} || jsonb_build_object('itemsPerDay', (
    select 86400 * (count(*) - 1) / nullif(extract(epoch from max(timestamp) - min(timestamp)), 0)
    from etl.items_below(feeds.chain_id, feeds.operation, ${top}, 'infinity', ${recentItems}::int)
    where height >= coalesce(
      (
        select max(lower(range))
        from etl.feed_coverage, unnest(covered) as range
        where feed_coverage.feed = feeds.feed
      ),
      0
    )
  ))
)`;
