import { sql } from 'drizzle-orm';
import type { ListReach } from '../list.ts';

/** The lag of the newest item, the blocks that are covered, and those that are not. */
export const status: ListReach = {
  reach: sql`
    select extract(epoch from lag) as lag_s, json_build_object(
      'of', 'blocks',
      'unit', feeds.unit,
      'covered', (
        select coalesce(sum(to_block - from_block + 1), 0) from explorer.coverage
        where coverage.feed = freshness.feed
      ),
      'gaps', (select count(*) from explorer.gaps where gaps.feed = freshness.feed),
      'missing', (
        select coalesce(sum(to_block - from_block + 1), 0) from explorer.gaps
        where gaps.feed = freshness.feed
      )
    ) as coverage
    from explorer.freshness
    where freshness.feed = feeds.feed
  `,
  progress: sql`json_build_object('reached', (
    select json_build_object('top', top, 'bottom', bottom, 'unit', feeds.unit)
    from etl.walks
    where run_id = latest.id
    order by id desc
    limit 1
  ))`,
};
