import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { Lane } from '../lists/tables.ts';
import { binStart, type TimeWindow } from '../time-window.ts';

/** What lanes did, in numbers that add up. */
export interface Work {
  /** Rows that were inserted or changed. */
  readonly rows: number;
  readonly requests: number;
  readonly credits: number;
}

/** What was done during one bin of a window, of all feeds and by all processes. */
export interface ThroughputBin {
  /** Counted from the window's first, 0. */
  readonly bin: number;
  /** So many minutes of it somebody is known to have worked. */
  readonly minutes: number;
  /** A lane that did nothing then is not there. */
  readonly lanes: Readonly<Partial<Record<Lane, Work>>>;
  /** Requests that failed, by class. */
  readonly failures: Readonly<Record<string, number>>;
}

/**
 * What was done in a window. A bin in which nobody is known to have worked is not there, and a hole; one in
 * which somebody did, and nothing came of it, has no lanes: that is zero.
 *
 * Processes note how current their feeds are in each minute of theirs, whether or not a lane does something:
 * that is what tells the two apart.
 */
export async function readThroughput(db: Database, window: TimeWindow): Promise<ThroughputBin[]> {
  const begin = sql`${new Date(window.from).toISOString()}::timestamptz`;
  const end = sql`${new Date(binStart(window, window.bins)).toISOString()}::timestamptz`;
  const bin = sql`floor(extract(epoch from minute - ${begin}) / ${window.binSeconds}::int)::int`;
  const inWindow = sql`minute >= ${begin} and minute < ${end}`;
  // The key begins with the feed: a look into it for each is cheaper than all of a month.
  const { rows } = await db.execute<{ noted: ThroughputBin }>(sql`
    with laned as materialized (
      select noted.*
      from etl.feeds
      cross join lateral (
        select minute, span_s, lane, inserted + changed as rows, requests, credits, failures
        from etl.lane_minutes
        where lane_minutes.feed = feeds.feed and ${inWindow}
      ) as noted
    ), worked as (
      select minute, span_s from laned
      union
      select noted.minute, noted.span_s
      from etl.feeds
      cross join lateral (
        select minute, span_s from etl.feed_minutes where feed_minutes.feed = feeds.feed and ${inWindow}
      ) as noted
    ), attended as (
      select ${bin} as bin,
             -- A minute that came after its quarter of an hour was thinned stands beside it.
             least(sum(span_s), ${window.binSeconds}::int) / 60 as minutes
      from worked
      group by bin
    ), sums as (
      select ${bin} as bin, lane, json_build_object(
        'rows', sum(rows), 'requests', sum(requests), 'credits', sum(credits)
      ) as work
      from laned
      group by bin, lane
    ), lanes as (
      select bin, json_object_agg(lane, work) as lanes from sums group by bin
    ), failed as (
      select bin, json_object_agg(class, times) as failures
      from (
        select ${bin} as bin, class, sum(times::bigint) as times
        from laned, jsonb_each_text(failures) as failure(class, times)
        where failures <> '{}'
        group by bin, class
      ) as classes
      group by bin
    )
    select json_build_object(
      'bin', bin, 'minutes', minutes,
      'lanes', coalesce(lanes, '{}'), 'failures', coalesce(failures, '{}')
    ) as noted
    from attended
    left join lanes using (bin)
    left join failed using (bin)
    order by bin
  `);
  return rows.map(({ noted }) => noted);
}
