import { sql } from 'drizzle-orm';

/** What is known of a ranking. */
export interface RankingFacts {
  /** Requests of the last finished ones, on average; null before the first. */
  readonly requests: number | null;
}

/** Before the first ranking. */
export const nothingKnown: RankingFacts = { requests: null };

/** How many of the last rankings make the average. */
const lastRankings = 10;

/** As SQL, over a row of `feeds`: what its last rankings took. */
export const facts = sql`(
  select json_build_object('requests', avg(pages))
  from (
    select (select sum(pages) from etl.walks where walks.run_id = runs.id) as pages
    from etl.runs
    where runs.feed = feeds.feed and state = 'finished' and exists (
      select from etl.walks
      where walks.run_id = runs.id
        and walks.state = 'finished'
        and walks.reason is distinct from 'max-pages'
    )
    order by id desc
    limit ${lastRankings}
  ) as ranking
)`;
