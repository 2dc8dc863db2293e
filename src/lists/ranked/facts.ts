import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { numberOf } from '../estimates.ts';
import type { Feed } from '../feed.ts';

/** What is known of a census. */
export interface CensusFacts {
  /** Requests of the last finished ones, on average; null before the first. */
  readonly requests: number | null;
}

/** How many of the last censuses make the average. */
const lastCensuses = 10;

/** What the last censuses of a feed took. */
export async function censusFacts(db: Database, feed: Feed): Promise<CensusFacts> {
  const { rows } = await db.execute<{ requests: string | null }>(sql`
    select avg(pages) as requests
    from (
      select sum(walks.pages) as pages
      from etl.ticks
      join etl.walks on walks.tick_id = ticks.id
      where ticks.chain_id = ${feed.chain_id} and ticks.operation = ${feed.operation}
        and ticks.state = 'finished'
      group by ticks.id
      having bool_or(walks.state = 'finished' and walks.reason is distinct from 'max-pages')
      order by ticks.id desc
      limit ${lastCensuses}
    ) as census
  `);
  return { requests: numberOf(rows[0]?.requests) };
}
