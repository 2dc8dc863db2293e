import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { numberOf } from '../estimates.ts';
import { ofFeed, type Feed } from '../feed.ts';

/** What is known of a ranking. */
export interface RankingFacts {
  /** Requests of the last finished ones, on average; null before the first. */
  readonly requests: number | null;
}

/** Before the first ranking. */
export const nothingKnown: RankingFacts = { requests: null };

/** How many of the last rankings make the average. */
const lastRankings = 10;

/** What the last rankings of a feed took. */
export async function rankingFacts(db: Database, feed: Feed): Promise<RankingFacts> {
  const { rows } = await db.execute<{ requests: string | null }>(sql`
    select avg(pages) as requests
    from (
      select (select sum(pages) from etl.walks where walks.run_id = runs.id) as pages
      from etl.runs
      where ${ofFeed(feed)} and state = 'finished' and exists (
        select from etl.walks
        where walks.run_id = runs.id
          and walks.state = 'finished'
          and walks.reason is distinct from 'max-pages'
      )
      order by id desc
      limit ${lastRankings}
    ) as ranking
  `);
  return { requests: numberOf(rows[0]?.requests) };
}
