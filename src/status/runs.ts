import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RunsDocument } from './endpoints.ts';
import type { RecentWindow } from './throughput.ts';

/** Runs and events that are shown, the newest. */
const mostRuns = 1_000;
const mostEvents = 500;

/** The runs of the last hours and what happened beside them, the newest first. */
export async function readRuns(db: Database, { hours, feed }: RecentWindow): Promise<RunsDocument> {
  const since = sql`now() - make_interval(hours => ${hours})`;
  const { rows } = await db.execute<{ runs: RunsDocument }>(sql`
    with begun as (
      select run_id from etl.walks where finished_at >= ${since}
      union
      select walk.run_id
      from etl.feeds
      cross join lateral (
        select run_id from etl.walks where walks.feed = feeds.feed and started_at >= ${since}
      ) as walk
      union
      select id from etl.runs where state = 'open'
    ), recent as materialized (
      select run.*
      from begun
      -- One by one: the planner would read all runs for as many as it expects.
      cross join lateral (select * from etl.runs where runs.id = run_id limit 1) as run
      where (${feed}::text is null or feed = ${feed}) and (closed_at is null or closed_at >= ${since})
      order by id desc
      limit ${mostRuns}
    )
    select json_build_object(
      'from', ${since}, 'to', now(),
      'runs', (
        select coalesce(json_agg(json_build_object(
          'id', id, 'feed', feed, 'lane', lane, 'state', state, 'opened_at', opened_at,
          'ended_at', closed_at, 'pages', coalesce(pages, 0), 'rows', coalesce(rows, 0), 'reason', reason
        ) order by id desc), '[]')
        from recent
        cross join lateral (
          select sum(pages) as pages, sum(inserted + changed) as rows
          from etl.walks where walks.run_id = recent.id
        ) as sums
      ),
      'events', (
        select coalesce(json_agg(json_build_object(
          'at', at, 'kind', kind, 'feed', feed, 'sentence', sentence
        ) order by at desc), '[]')
        from (
          select * from etl.events
          where at >= ${since} and (feed is null or ${feed}::text is null or feed = ${feed})
          order by at desc
          limit ${mostEvents}
        ) as event
      )
    ) as runs
  `);
  const [found] = rows;
  if (found === undefined) throw new Error('a statement without a table answers one row');
  return found.runs;
}
