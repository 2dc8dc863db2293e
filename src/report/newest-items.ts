import { sql } from 'drizzle-orm';
import type { StatusDocument } from '../documents/status.ts';
import type { Database } from '../db/transaction.ts';
import type { Feed } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';

/** How current a feed's data is. */
export type DataAge = NonNullable<StatusDocument['feeds'][number]['data']>;

/** What the times of a list's newest items say of its pace. Times are seconds since 1970. */
export interface ItemPace {
  /** The newest times, the newest first. */
  readonly newest: readonly number[];
  /** The mean time between two items. */
  readonly usual_s: number;
  /** The longest time between two items, without those that wrong times may have made. */
  readonly longest_s: number;
}

/** So many wrong times decide nothing: neither what is newest nor what is usual. */
const wrongTimes = 2;
/** Fewer times than on a page show no interval. */
const leastTimes = 50;

/**
 * The pace of a feed's list, by the times of its newest items: a bounded read of an index. A time that is still
 * to come is wrong.
 *
 * @returns null where its items have no times, or too few are stored
 */
export async function itemPace(db: Database, feed: Feed): Promise<ItemPace | null> {
  const times = kindOf(feed.operation).status.newestTimes(feed);
  if (times === null) return null;
  const { rows } = await db.execute<{ pace: ItemPace }>(sql`
    with item as materialized (${times}), ranked as (
      select extract(epoch from timestamp)::float8 as at,
             extract(epoch from timestamp - lead(timestamp) over newest_first)::float8 as gap,
             row_number() over newest_first as place, count(*) over () as items
      from item
      where timestamp <= now() + interval '1 day'
      window newest_first as (order by timestamp desc)
    )
    select json_build_object(
      'newest', array_agg(at order by place) filter (where place <= ${wrongTimes + 1}::int),
      'usual_s', (
        max(at) filter (where place = ${wrongTimes + 1}::int)
          - max(at) filter (where place = items - ${wrongTimes}::int)
      ) / (max(items) - ${2 * wrongTimes + 1}::int),
      'longest_s', (array_agg(gap order by gap desc nulls last))[${wrongTimes + 1}::int]
    ) as pace
    from ranked
    having count(*) >= ${leastTimes}::int
  `);
  return rows[0]?.pace ?? null;
}

/** So many times the longest usual silence is none of the list's own. */
const silences = 3;
/** A list that is busy by day may rest at night; in seconds. */
const leastLimitSeconds = 6 * 3600;

/**
 * How old the newest item was when the head of the list was last looked at, and how old it may be: what
 * was listed later is not stored yet. The newest times count if the ones below confirm them. Pure.
 *
 * @param looked_at ISO 8601
 */
export function dataAgeOf({ newest, usual_s, longest_s }: ItemPace, looked_at: string): DataAge {
  const limit_s = Math.max(leastLimitSeconds, silences * longest_s);
  const confirmed = newest.at(-1) ?? 0;
  const at = newest.find((time) => time <= confirmed + limit_s) ?? confirmed;
  const age_s = Math.max(0, Date.parse(looked_at) / 1000 - at);
  return {
    newest_at: new Date(at * 1000).toISOString(),
    age_s: Math.round(age_s),
    usual_s: Math.round(usual_s),
    limit_s: Math.round(limit_s),
    is_met: age_s <= limit_s,
  };
}
