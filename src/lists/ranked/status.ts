import { sql } from 'drizzle-orm';
import type { ListReach } from '../list.ts';

/** How old the newest ranking is, and how many it ranked. */
export const status: ListReach = {
  reach: sql`
    select extract(epoch from clock_timestamp() - ranking.at) as lag_s,
           json_build_object('of', 'ranking', 'as_of', ranking.at, 'factories', (
             select count(*) from explorer.factories
             where factories.chain_id = feeds.chain_id and rank is not null
           )) as coverage
    from (
      select max(started_at) as at from etl.walks
      where walks.feed = feeds.feed and state = 'finished' and reason is null
    ) as ranking
  `,
  progress: sql`'{}'::json`,
  verified: sql`
    select coalesce((
             select factories from etl.rankings join etl.walks on walks.id = walk_id
             where walks.feed = feeds.feed
             order by walk_id desc
             limit 1
           ), 0) as positions,
           0 as gaps, 0 as missing, max(started_at) as snapshot_at
    from etl.walks
    where walks.feed = feeds.feed and state = 'finished' and reason is null
  `,
  newestTimes: null,
};
