import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { Lane, RunState } from '../lists/tables.ts';

/** A lane's newest run, and the totals of all its runs. */
export interface LaneCounts {
  readonly feed: string;
  readonly lane: Lane;
  readonly run_state: RunState;
  readonly rows: number;
  readonly pages: number;
  readonly credits: number;
}

/** The counts of some feeds' lanes; it reads as much after a year as on the first day. */
export async function laneCounts(db: Database, feeds: readonly string[]): Promise<LaneCounts[]> {
  const { rows } = await db.execute<{ counts: LaneCounts }>(sql`
    select json_build_object(
      'feed', feed,
      'lane', lane,
      'run_state', newest.state,
      'rows', coalesce(inserted, 0),
      'pages', coalesce(pages, 0),
      'credits', coalesce(credits, 0)
    ) as counts
    from etl.newest_runs as newest
    left join etl.lane_sums using (feed, lane)
    where feed = any(${sql.param(feeds)}::text[])
  `);
  return rows.map(({ counts }) => counts);
}
