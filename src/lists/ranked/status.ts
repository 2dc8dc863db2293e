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
  newestTimes: () => null,
};
