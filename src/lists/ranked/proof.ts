import { sql } from 'drizzle-orm';
import type { ListCoverage } from '../list.ts';
import { listEmpty, partSkipped } from '../ranking.ts';

/** The newest ranking of a feed, a row of `feeds`. */
const newestRanking = sql`
  select rankings.*, started_at
  from etl.rankings
  join etl.walks on walks.id = walk_id
  where walks.feed = feeds.feed
  order by walk_id desc
  limit 1
`;

/**
 * What the newest ranking verifies of a feed, a row of `feeds`, as ranks: a JSON list; as SQL. An item in
 * quarantine can have any rank, and moves those below it.
 */
const countedFactories = sql`
  select json_agg(
    json_build_object(
      'from', 1, 'to', factories, 'as_of', as_of, 'newest_as_of', coalesce(started_at, as_of)
    )
  )
  from (${newestRanking}) as newest
  where factories > 0
    and not exists (select from etl.quarantined where quarantined.feed = feeds.feed)
`;

/** What is to be known of the newest ranking of a feed, a row of `feeds`: a JSON list; as SQL. */
const rankingNotes = sql`
  select jsonb_agg(note) from (
    select jsonb_build_object('detail', 'rows-moved', 'count', walks) as note
    from (${newestRanking}) as newest
    where still_moving
    union all
    select jsonb_build_object(
      'detail', case reason when ${listEmpty} then 'empty-list' else 'part-skipped' end
    )
    from (
      select reason from etl.walks
      where walks.feed = feeds.feed
      order by id desc
      limit 1
    ) as last
    where reason in (${listEmpty}, ${partSkipped})
  ) as notes
`;

/** A ranked list is verified by a ranking: one pass over all of it that was finished. */
export const proof: ListCoverage = {
  shows: sql`exists (${newestRanking})`,
  lacks: 'no-snapshot',
  by: 'census',
  covered: countedFactories,
  notes: rankingNotes,
  findings: sql`
    select null::text as feed, null::jsonb as finding where false
  `,
  readsAgain: sql`later.reason is null`,
};
