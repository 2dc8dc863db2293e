import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { numberOf } from '../../lists/estimates.ts';
import { ofFeed, type Feed } from '../../lists/feed.ts';

/** What every feed's ledger tells. */
export interface LedgerFacts {
  readonly requests: number;
  readonly credits: number;
  /** How long the newest answers took, in ms; null before the first. */
  readonly latencyMs: number | null;
}

/** What a feed has cost so far, and how fast it is answered. */
export async function ledgerFacts(db: Database, feed: Feed): Promise<LedgerFacts> {
  const { rows } = await db.execute<Record<'requests' | 'credits' | 'latency', string | null>>(sql`
    with newest as (
      select id from etl.walks where ${ofFeed(feed)} and pages > 0 order by started_at desc limit 20
    )
    select sum(pages) as requests,
           sum(credits) as credits,
           (
             select avg(latency_ms)
             from (
               select latency_ms from etl.pages join newest on newest.id = walk_id
               order by pages.id desc
               limit 200
             ) as answer
           ) as latency
    from etl.lane_sums
    where ${ofFeed(feed)}
  `);
  return {
    requests: numberOf(rows[0]?.requests) ?? 0,
    credits: numberOf(rows[0]?.credits) ?? 0,
    latencyMs: numberOf(rows[0]?.latency),
  };
}

/** Requests that were made since a moment, by all feeds of the database. */
export async function requestsSince(db: Database, from: Date, to: Date): Promise<number> {
  const { rows } = await db.execute<{ requests: string }>(sql`
    -- Two looks, each by an index: with an "or" the planner expects so many that it reads all walks. And each
    -- walk's pages by themselves: with a join it reads all pages where it expects some more walks.
    with walked as not materialized (
      select id from etl.walks where state = 'running'
      union all
      select id from etl.walks
      where state <> 'running' and finished_at >= ${from.toISOString()}::timestamptz
    )
    select coalesce(sum(of_walk.requests), 0) as requests
    from walked
    cross join lateral (
      select sum(attempts) as requests from etl.pages
      where walk_id = walked.id
        and fetched_at >= ${from.toISOString()}::timestamptz
        and fetched_at < ${to.toISOString()}::timestamptz
    ) as of_walk
  `);
  return Number(rows[0]?.requests ?? 0);
}
