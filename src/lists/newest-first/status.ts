import { sql } from 'drizzle-orm';
import type { ListReach } from '../list.ts';
import { isOpen } from './coverage.ts';

/** Newest items that show the list's pace: minutes of a busy chain, months of a quiet one. */
const recentItems = 1_000;

/** The lag of the newest item, the blocks that are covered, and those that are not. */
export const status: ListReach = {
  progress: sql`json_build_object('reached', (
    select json_build_object('top', top, 'bottom', bottom, 'unit', feeds.unit)
    from etl.walks
    where run_id = latest.id
    order by id desc
    limit 1
  ), 'reached_at', (
    select timestamp from etl.item_above(feeds.chain_id, feeds.operation, (
      select max(upper(gap)) from etl.feed_gaps where feed_gaps.feed = feeds.feed and ${isOpen}
    ))
  ))`,
  verified: sql`
    select coalesce((
             select sum(upper(range) - lower(range)) from etl.covered_ranges
             where covered_ranges.feed = feeds.feed
           ), 0) as positions,
           count(*) as gaps, coalesce(sum(upper(gap) - lower(gap)), 0) as missing,
           null::timestamptz as snapshot_at
    from etl.feed_gaps
    where feed_gaps.feed = feeds.feed
  `,
  newestTimes: sql`
    select timestamp
    from etl.items_below(
      feeds.chain_id, feeds.operation, 9223372036854775807, 'infinity', ${recentItems}::int
    )
  `,
};
