import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { addToStored } from './write.ts';

/** How long each minute is kept; as SQL. Charts of a day show minutes, those of a month quarters of an hour. */
const minutesFor = sql`interval '1 day'`;
/** How long anything is kept; as SQL. */
const keptFor = sql`interval '31 days'`;
const quarter = sql`date_bin('15 minutes', minute, 'epoch'::timestamptz)`;
/** What rows tell of before and after, in seconds. */
const minuteSeconds = 60;
const quarterSeconds = 900;
/** The quarters of an hour that are over for long enough, each whole. */
const isOld = sql`minute < date_bin('15 minutes', now() - ${minutesFor}, 'epoch'::timestamptz)`;
const isThick = sql`span_s = ${minuteSeconds} and ${isOld}`;

/**
 * Makes one row of each quarter of an hour that is older than a day, and deletes what is older than 31
 * days. Of lanes the sums; of feeds the worst, or a month would look better than its days. Each statement
 * moves a row once, however many processes do it at a time.
 */
export async function thinHistory(db: Pick<Database, 'execute'>): Promise<void> {
  await db.execute(sql`delete from etl.feed_minutes where minute < now() - ${keptFor}`);
  await db.execute(sql`delete from etl.lane_minutes where minute < now() - ${keptFor}`);
  await db.execute(sql`
    with gone as (
      delete from etl.feed_minutes where ${isThick} returning *
    )
    insert into etl.feed_minutes as t (feed, minute, span_s, lag_s, looked_age_s, objective_s)
    select feed, ${quarter}, ${quarterSeconds}, max(lag_s), max(looked_age_s), min(objective_s)
    from gone
    group by feed, ${quarter}
    order by feed, ${quarter}
    on conflict (feed, span_s, minute) do update
    set lag_s = greatest(t.lag_s, excluded.lag_s),
        looked_age_s = greatest(t.looked_age_s, excluded.looked_age_s),
        objective_s = least(t.objective_s, excluded.objective_s)
  `);
  await db.execute(sql`
    with gone as (
      delete from etl.lane_minutes where ${isThick} returning *, ${quarter} as quarter
    ), failed as (
      select feed, lane, quarter, jsonb_object_agg(class, times) as failures
      from (
        select feed, lane, quarter, class, sum(times::bigint) as times
        from gone, jsonb_each_text(failures) as each_of (class, times)
        group by feed, lane, quarter, class
      ) as by_class
      group by feed, lane, quarter
    ), summed as (
      select feed, lane, quarter, sum(pages) as pages, sum(inserted) as inserted,
             sum(changed) as changed, sum(quarantined) as quarantined, sum(requests) as requests,
             sum(credits) as credits
      from gone
      group by feed, lane, quarter
    )
    insert into etl.lane_minutes as t (
      feed, lane, minute, span_s, pages, inserted, changed, quarantined, requests, credits, failures
    )
    select feed, lane, quarter, ${quarterSeconds}, pages, inserted, changed, quarantined, requests, credits,
           coalesce(failures, '{}')
    from summed
    left join failed using (feed, lane, quarter)
    order by feed, lane, quarter
    ${addToStored}
  `);
}
