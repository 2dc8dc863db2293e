import type { Pool } from 'pg';
import { creditsPerRequest } from './budget.ts';
import { fingerprintKey, type LimitedKey } from './key.ts';

/**
 * Counts a request without a slot among the credits of the key's day: `check` makes it whatever the limits. $1
 * fingerprint, $2 requests per second, $3 credits a day.
 */
const countOne = `
insert into etl.budget as budget (key_fingerprint, requests_per_second, daily_credits, next_at,
  credits_day, credits_spent, requests)
select $1, $2, $3, now, (now at time zone 'utc')::date, ${creditsPerRequest}, 1
from clock_timestamp() as now
on conflict (key_fingerprint) do update
set requests = budget.requests + 1,
    credits_day = excluded.credits_day,
    credits_spent = excluded.credits_spent
      + case when budget.credits_day >= excluded.credits_day then budget.credits_spent else 0 end`;

/** Counts a request of `check`. It rejects where there are no tables, or no right to write. */
export const countRequest = (
  pool: Pool,
  { apiKey, requestsPerSecond, dailyCredits }: LimitedKey,
): Promise<unknown> =>
  pool.query(countOne, [fingerprintKey(apiKey), requestsPerSecond, dailyCredits]);
