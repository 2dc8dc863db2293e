import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { firingInterval, type Cron } from './firings.ts';

/** How old the last look at the head of a list may be, and where that is said. */
export interface Objective {
  readonly seconds: number;
  /** `configured`: `freshness` of the feed. `schedule`: two of its firings. `daily`: a `sync` a day. */
  readonly from: 'configured' | 'schedule' | 'daily';
}

/** When the head of a feed's list was looked at last. */
export interface Look {
  readonly feed: string;
  /** ISO 8601; null: no run that went to the head has finished. */
  readonly looked_at: string | null;
  readonly age_s: number | null;
  /** As configured; null: nothing is. */
  readonly freshness_s: number | null;
  /** As configured, whether or not somebody works by it. */
  readonly schedule: Cron;
  /** ISO 8601: what the explorer does not serve is not polled before. */
  readonly poll_again_at: string | null;
}

/** When each feed's head was looked at last. */
export async function lastLooks(db: Database): Promise<Look[]> {
  const { rows } = await db.execute<{ look: Look }>(sql`
    select json_build_object(
      'feed', feed,
      'looked_at', looked_at,
      'age_s', round(extract(epoch from clock_timestamp() - looked_at)),
      'freshness_s', extract(epoch from objective),
      'schedule', json_build_object(
        'cron', settings ->> 'schedule', 'timezone', coalesce(settings ->> 'timezone', 'UTC')
      ),
      'poll_again_at', poll_again_at
    ) as look
    from explorer.freshness
    join etl.feeds using (feed)
  `);
  return rows.map(({ look }) => look);
}

/** Firings of a schedule that may be missed: a poll that takes long is no miss, and the next one is. */
const firingsMissed = 2;
/** A run is opened and read within so long, in seconds, however often the schedule fires. */
const leastSeconds = 120;
/** Whoever is fed by `sync` has it a day old at most, and two hours for the reading; in seconds. */
const dailySeconds = 26 * 3600;

/**
 * How old a feed's last look may be. Without `freshness` in the file it is judged by what it lives by: the
 * schedule that a `start` set, or a `sync` a day where none ever did. Pure.
 *
 * @param set the schedule that a `start` set; null: none did
 */
export function objectiveOf(
  { freshness_s, schedule }: Pick<Look, 'freshness_s' | 'schedule'>,
  set: Cron | null,
  at: Date,
): Objective {
  if (freshness_s !== null) return { seconds: freshness_s, from: 'configured' };
  const seconds = Math.max(leastSeconds, firingsMissed * firingInterval(set ?? schedule, at));
  if (set !== null) return { seconds, from: 'schedule' };
  return { seconds: Math.max(dailySeconds, seconds), from: 'daily' };
}
