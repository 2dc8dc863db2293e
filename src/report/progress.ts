import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FailureClass } from '../failure.ts';
import type { RunState } from '../lists/tables.ts';
import type { Lane } from '../lists/tables.ts';

/** A lane's run that is open or was opened last, and what the lane has come to since it began. */
export interface LaneCounts {
  readonly feed: string;
  readonly lane: Lane;
  readonly run_id: number;
  readonly run_state: RunState;
  readonly failure: FailureClass | null;
  readonly reason: string | null;
  /** Of all its runs. */
  readonly rows: number;
  readonly pages: number;
  readonly credits: number;
}

/**
 * The counts of some feeds' lanes. It reads what is kept of the walks that ended, those under way, and a run of each
 * lane, all by an index: as much after a year as on the first day.
 */
export async function laneCounts(db: Database, feeds: readonly string[]): Promise<LaneCounts[]> {
  const { rows } = await db.execute<{ counts: LaneCounts }>(sql`/* progress */
    select json_build_object(
      'feed', wanted.feed,
      'lane', own.lane,
      'run_id', run.id,
      'run_state', run.state,
      'failure', run.failure,
      'reason', run.reason,
      'rows', coalesce(kept.inserted, 0) + coalesce(now.inserted, 0),
      'pages', coalesce(kept.pages, 0) + coalesce(now.pages, 0),
      'credits', coalesce(kept.credits, 0) + coalesce(now.credits, 0)
    ) as counts
    from unnest(${sql.param(feeds)}::text[]) with ordinality as wanted(feed, place)
    cross join unnest(array['live', 'backfill']) as own(lane)
    cross join lateral (
      (
        select feed, lane, id, state, failure, reason from etl.runs
        where feed = wanted.feed and lane = own.lane and state = 'open'
      )
      union all
      (
        -- By the whole key of runs_feed: by the id alone, as with a feed and a lane that are told to be equal, the
        -- planner reads all runs backward for a lane without one. So whose it is, is asked outside.
        select feed, lane, id, state, failure, reason from etl.runs
        where (feed, lane, id) <= (wanted.feed, own.lane, 9223372036854775807)
        order by feed desc, lane desc, id desc
        limit 1
      )
      limit 1
    ) as run
    left join etl.lane_totals as kept on kept.feed = wanted.feed and kept.lane = own.lane
    left join lateral (
      select sum(inserted) as inserted, sum(pages) as pages, sum(credits) as credits
      from etl.walks
      where feed = wanted.feed and lane = own.lane and state = 'running'
    ) as now on true
    where run.feed = wanted.feed and run.lane = own.lane
    order by place, own.lane desc
  `);
  return rows.map(({ counts }) => counts);
}
