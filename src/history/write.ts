import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { LaneCounts } from './counts.ts';

/** How current a feed is, in seconds. */
export interface FeedMinute {
  readonly feed: string;
  /** Age of its newest item; null: nothing is stored. */
  readonly lag_s: number | null;
  /** Since the last look at the head of its list; null: there was none. */
  readonly looked_age_s: number | null;
  /** How old that may be; null: nothing is to come. */
  readonly objective_s: number | null;
}

/** The beginning of a minute, as SQL. Bins know no time zone, and are those that it is thinned by. */
const minuteOf = (time: ReturnType<typeof sql>) =>
  sql`date_bin('1 minute', ${time}, 'epoch'::timestamptz)`;

/** Counts by class, those of the stored row and of the new one together; as SQL. */
const bothFailures = sql`(
  select coalesce(jsonb_object_agg(class, times), '{}')
  from (
    select class, sum(times::bigint) as times
    from (
      select * from jsonb_each_text(t.failures)
      union all
      select * from jsonb_each_text(excluded.failures)
    ) as each_of (class, times)
    group by class
  ) as summed
)`;

/** Adds the counts of a row to those that are stored of its lane and minute; as SQL. */
export const addToStored = sql`
  on conflict (feed, lane, span_s, minute) do update
  set pages = t.pages + excluded.pages,
      inserted = t.inserted + excluded.inserted,
      changed = t.changed + excluded.changed,
      quarantined = t.quarantined + excluded.quarantined,
      requests = t.requests + excluded.requests,
      credits = t.credits + excluded.credits,
      failures = ${bothFailures}
`;

/**
 * Adds counts to those of their minute, which other processes add theirs to as well. In the order of the
 * key, so that no two deadlock.
 *
 * @param agoMs when it was, before now on the database's clock: the middle of the time that was counted
 */
export async function addLaneMinutes(
  db: Pick<Database, 'execute'>,
  counts: readonly LaneCounts[],
  agoMs: number,
): Promise<void> {
  if (counts.length === 0) return;
  await db.execute(sql`
    insert into etl.lane_minutes as t (
      feed, lane, minute, pages, inserted, changed, quarantined, requests, credits, failures
    )
    select feed, lane, ${minuteOf(sql`clock_timestamp() - make_interval(secs => ${agoMs / 1000})`)},
           pages, inserted, changed, quarantined, requests, credits, failures
    from json_to_recordset(${JSON.stringify(counts)}::json) as told(
      feed text, lane text, pages bigint, inserted bigint, changed bigint, quarantined bigint,
      requests bigint, credits bigint, failures jsonb
    )
    order by feed, lane
    ${addToStored}
  `);
}

/** Notes how current each feed is now, unless another process has noted this minute. */
export async function noteFeedMinutes(
  db: Pick<Database, 'execute'>,
  feeds: readonly FeedMinute[],
): Promise<void> {
  await db.execute(sql`
    insert into etl.feed_minutes (feed, minute, lag_s, looked_age_s, objective_s)
    select feed, ${minuteOf(sql`clock_timestamp()`)}, lag_s, looked_age_s, objective_s
    from json_to_recordset(${JSON.stringify(feeds)}::json) as told(
      feed text, lag_s float8, looked_age_s float8, objective_s float8
    )
    order by feed
    on conflict do nothing
  `);
}

/** How long until the next minute begins on the database's clock, in ms. */
export async function untilNextMinute(db: Pick<Database, 'execute'>): Promise<number> {
  const { rows } = await db.execute<{ ms: number }>(sql`
    select 60000 - mod(1000 * extract(epoch from clock_timestamp()), 60000)::float8 as ms
  `);
  return rows[0]?.ms ?? 60_000;
}
