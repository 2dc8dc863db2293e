import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { ofFeed, type Feed } from './feed.ts';

/** More walks of one lane at once than any plan and round trip call for. */
export const mostWalks = 32;

/** What one process writes, in pages a second: more walks than fill that only wait for each other. */
const writtenPerSecond = 100;

/** A walk's own time for a page beside the round trip, as a part of it, until the next request leaves. */
const ownPart = 0.5;

/** Newest pages that tell the present round trip. */
const recentPages = 20;

/**
 * How many walks of a feed at once use up the key's rate, by the round trip that was measured last: one
 * waits for each answer. Of what several lanes of history share this is one's part. One where nothing was
 * measured yet; never more than the feed's setting `parallel`.
 */
export async function walksCalledFor(
  db: Pick<Transaction, 'execute'>,
  feed: Feed,
): Promise<number> {
  const { rows } = await db.execute<{ walks: number }>(sql`
    select least(
      least(rate, ${writtenPerSecond}) * ${1 + ownPart}::float8 * trip_ms / 1000 / greatest(lanes, 1),
      (select (settings ->> 'parallel')::float8 from etl.feeds where ${ofFeed(feed)}),
      ${mostWalks}
    )::float8 as walks
    from (
      select least(requests_per_second, service_limit) as rate
      from etl.budget
      order by updated_at desc
      limit 1
    ) as key, (
      -- Half of the answers came sooner: one that hung says nothing of the others.
      select percentile_cont(0.5) within group (order by latency_ms) as trip_ms
      from (select latency_ms from etl.pages order by id desc limit ${recentPages}) as newest
    ) as measured, (
      select count(*) as lanes from etl.runs where state = 'open' and lane = 'backfill'
    ) as open_runs
  `);
  return Math.max(1, Math.ceil(rows[0]?.walks ?? 1));
}
