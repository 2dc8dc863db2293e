import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FeedMinute } from '../history/write.ts';
import { schedulesSet } from '../sync/queue.ts';
import { headSchedule } from './feed-report.ts';
import { type Look, objectiveOf } from './freshness.ts';

/** What a feed's minute is made of. */
interface Facts extends Pick<Look, 'feed' | 'freshness_s' | 'schedule'> {
  readonly lag_s: number | null;
  readonly looked_age_s: number | null;
  /** Nothing above a last number is asked for. */
  readonly is_bounded: boolean;
}

/** How current every feed is now; it reads as much after a year of walks as after a day. */
export async function feedMinutes(db: Database, at: Date): Promise<FeedMinute[]> {
  const { rows } = await db.execute<{ facts: Facts }>(sql`
    select json_build_object(
      'feed', feed,
      'lag_s', extract(epoch from lag),
      'looked_age_s', extract(epoch from now() - looked_at),
      'freshness_s', extract(epoch from objective),
      'schedule', json_build_object(
        'cron', settings ->> 'schedule', 'timezone', coalesce(settings ->> 'timezone', 'UTC')
      ),
      'is_bounded', not isempty(asked) and not upper_inf(asked)
    ) as facts
    from explorer.freshness
    join etl.feeds using (feed)
  `);
  const schedules = await schedulesSet(db);
  return rows.map(({ facts: { feed, lag_s, looked_age_s, is_bounded, ...look } }) => ({
    feed,
    lag_s,
    looked_age_s,
    objective_s: is_bounded ? null : objectiveOf(look, headSchedule(schedules, feed), at).seconds,
  }));
}
