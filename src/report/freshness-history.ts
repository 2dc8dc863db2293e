import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { binStart, type TimeWindow } from '../time-window.ts';

/** How current a feed was during one bin of a window: the worst of its minutes. */
export interface FreshnessBin {
  /** Counted from the window's first, 0. */
  readonly bin: number;
  /** Since the last look at the head of the list, in seconds; null: there was none yet. */
  readonly age_s: number | null;
  /** Age of the newest item, in seconds; null: nothing was stored yet. */
  readonly lag_s: number | null;
  /** The least of its objectives, in seconds; null: nothing was to come. */
  readonly objective_s: number | null;
  /** That age as a part of the objective of its own minute; null: one of the two was not known. */
  readonly share: number | null;
}

/** What is noted of a feed in a window. */
export interface FreshnessHistory {
  readonly feed: string;
  /** In their order. A bin in which nobody noted anything is not there, and a hole. */
  readonly bins: readonly FreshnessBin[];
}

/**
 * How current feeds were. A feed that nobody noted in the window is not there.
 *
 * Bins are at least as wide as a thinned row, a quarter of an hour, where a window reaches past a day: so
 * that thinned rows leave no holes between them.
 *
 * @param feeds the names of those whose history is read: each costs a look into the key by itself
 */
export async function freshnessHistory(
  db: Database,
  feeds: readonly string[],
  window: TimeWindow,
): Promise<FreshnessHistory[]> {
  const begin = new Date(window.from).toISOString();
  const end = new Date(binStart(window, window.bins)).toISOString();
  const { rows } = await db.execute<{ history: FreshnessHistory }>(sql`
    with bins as (
      select noted.*
      from json_array_elements_text(${JSON.stringify(feeds)}::json) as chosen(feed)
      cross join lateral (
        select feed,
               floor(extract(epoch from minute - ${begin}::timestamptz) / ${window.binSeconds}::int)::int as bin,
               round(max(looked_age_s)) as age_s,
               round(max(lag_s)) as lag_s,
               min(objective_s) as objective_s,
               round(max(looked_age_s / nullif(objective_s, 0))::numeric, 3) as share
        from etl.feed_minutes
        where feed_minutes.feed = chosen.feed
          and minute >= ${begin}::timestamptz and minute < ${end}::timestamptz
        group by feed, bin
      ) as noted
    )
    select json_build_object(
      'feed', feed,
      'bins', json_agg(
        json_build_object(
          'bin', bin, 'age_s', age_s, 'lag_s', lag_s, 'objective_s', objective_s, 'share', share
        ) order by bin
      )
    ) as history
    from bins
    group by feed
    order by feed
  `);
  return rows.map(({ history }) => history);
}
