import type { Pool } from 'pg';

/** What a row of `etl.feed_minutes` may say beside its feed and minute. */
export interface FeedMinute {
  readonly lag_s?: number | null;
  readonly looked_age_s?: number | null;
  readonly objective_s?: number | null;
  /** How long it stands for, in seconds. */
  readonly span_s?: number;
}

/** What a row of `etl.lane_minutes` may say beside its feed, lane and minute. */
export interface LaneMinute {
  readonly inserted?: number;
  readonly changed?: number;
  readonly requests?: number;
  readonly credits?: number;
  readonly failures?: Readonly<Record<string, number>>;
}

/** Feeds of user operations of so many chains, from 10 on. */
export async function insertFeeds(pool: Pool, count: number): Promise<string[]> {
  await pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings)
     select 9 + n, 'user-operations', 'newest-first', '{}' from generate_series(1, $1::int) as n`,
    [count],
  );
  return Array.from({ length: count }, (_, index) => `${10 + index}/user-operations`);
}

/** Notes minutes of a feed, each by its time (ISO 8601). */
export async function noteFeed(
  pool: Pool,
  feed: string,
  minutes: Readonly<Record<string, FeedMinute>>,
): Promise<void> {
  for (const [minute, noted] of Object.entries(minutes)) {
    const { lag_s = 60, looked_age_s = 30, objective_s = 600, span_s = 60 } = noted;
    await pool.query(
      `insert into etl.feed_minutes (feed, minute, lag_s, looked_age_s, objective_s, span_s)
       values ($1, $2, $3, $4, $5, $6)`,
      [feed, minute, lag_s, looked_age_s, objective_s, span_s],
    );
  }
}

/** Notes minutes of a lane as a process does: it adds to what others noted. */
export async function noteLane(
  pool: Pool,
  feed: string,
  lane: 'live' | 'backfill',
  minutes: Readonly<Record<string, LaneMinute>>,
): Promise<void> {
  for (const [minute, noted] of Object.entries(minutes)) {
    const { inserted = 0, changed = 0, requests = 0, credits = 20 * requests } = noted;
    await pool.query(
      `insert into etl.lane_minutes as t (feed, lane, minute, pages, inserted, changed,
         quarantined, requests, credits, failures)
       values ($1, $2, $3, $6, $4, $5, 0, $6, $7, $8)
       on conflict (feed, lane, span_s, minute) do update set inserted = t.inserted + excluded.inserted,
         changed = t.changed + excluded.changed, requests = t.requests + excluded.requests,
         credits = t.credits + excluded.credits, failures = t.failures || excluded.failures`,
      [feed, lane, minute, inserted, changed, requests, credits, noted.failures ?? {}],
    );
  }
}
