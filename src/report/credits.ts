import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FailureClass } from '../failure.ts';
import { creditsPerPage } from '../sync/ledger.ts';

/** What a key has spent today (UTC). Which one it is, is not told. */
export interface KeyCredits {
  readonly spent: number;
  /** Null: no limit of ours. */
  readonly limit: number | null;
  /** What may still be spent today, by our limit and by what the explorer said; null: neither says. */
  readonly left: number | null;
  /** ISO 8601: until when no request of the key may leave; null: it may. */
  readonly paused_until: string | null;
  readonly failure: FailureClass | null;
  readonly reason: string | null;
}

/** Whether today's credits last. Times are ISO 8601. */
export type CreditForecast =
  | { readonly kind: 'no-limit' }
  | { readonly kind: 'enough' }
  | {
      readonly kind: 'history-takes-days';
      readonly days: { readonly least: number; readonly most: number };
    }
  | { readonly kind: 'lasts-until'; readonly at: string }
  | { readonly kind: 'spent'; readonly until: string }
  | { readonly kind: 'unknown' };

/** What every key has spent today. */
export async function creditsToday(db: Database): Promise<KeyCredits[]> {
  const { rows } = await db.execute<{ credits: KeyCredits }>(sql`
    with key as (
      select *, credits_day is not distinct from (clock_timestamp() at time zone 'utc')::date as is_today,
             coalesce(paused_until > clock_timestamp(), false) as is_paused
      from etl.budget
    ), told as (
      select *, case when is_today then credits_spent else 0 end as spent,
             case when is_today then credits_remaining end as remaining
      from key
    )
    select json_build_object(
      'spent', spent,
      'limit', daily_credits,
      -- Neither tells: not known, which greatest() would make none.
      'left', case when coalesce(daily_credits, remaining) is not null
        then greatest(0, least(daily_credits - spent, remaining)) end,
      'paused_until', case when is_paused then paused_until end,
      'failure', case when is_paused then pause_class end,
      'reason', case when is_paused then pause_reason end
    ) as credits
    from told
    order by key_fingerprint
  `);
  return rows.map(({ credits }) => credits);
}

/** What is left to request, of all feeds. */
export interface WorkLeft {
  /** Requests that a day of polls takes, as far as it is known. */
  readonly pollsPerDay: number;
  /** Requests of history; null: some of it, or of the polls, is not known. */
  readonly history: { readonly least: number; readonly most: number } | null;
}

/** What a forecast is made from. */
interface Spending extends WorkLeft, Pick<KeyCredits, 'spent' | 'limit'> {
  readonly at: Date;
  /** Null: no limit. */
  readonly left: number | null;
}

const daySeconds = 86_400;

/**
 * Whether the credits last until midnight UTC, by what is left to request: polls, which cannot wait, and then
 * history, which goes on the next day. The pace of a first reading says nothing of the hours after it. Pure.
 */
export function forecastCredits(spending: Spending): CreditForecast {
  const { at, left, history, pollsPerDay } = spending;
  if (left === null) return { kind: 'no-limit' };
  const midnight = new Date(at);
  midnight.setUTCHours(24, 0, 0, 0);
  if (left < creditsPerPage) return { kind: 'spent', until: midnight.toISOString() };
  const restSeconds = (midnight.getTime() - at.getTime()) / 1000;
  const pages = left / creditsPerPage;
  const forHistory = pages - (pollsPerDay * restSeconds) / daySeconds;
  if (forHistory < 0) {
    const lastsMs = (1000 * daySeconds * pages) / pollsPerDay;
    return { kind: 'lasts-until', at: new Date(at.getTime() + lastsMs).toISOString() };
  }
  if (history === null) return { kind: 'unknown' };
  if (history.most <= forHistory) return { kind: 'enough' };
  const pagesPerDay = (spending.limit ?? spending.spent + left) / creditsPerPage - pollsPerDay;
  // A history of unknown length may well end today.
  const days = (requests: number) =>
    Math.max(0, Math.ceil((requests - forHistory) / Math.max(1, pagesPerDay)));
  return {
    kind: 'history-takes-days',
    days: { least: days(history.least), most: days(history.most) },
  };
}

/** The credits of all keys together; left is unknown where one of them has no limit. */
export function sumCredits(
  keys: readonly KeyCredits[],
): Pick<KeyCredits, 'spent' | 'limit' | 'left'> {
  const sum = (of: (key: KeyCredits) => number | null) =>
    keys.length === 0 || keys.some((key) => of(key) === null)
      ? null
      : keys.reduce((total, key) => total + (of(key) ?? 0), 0);
  return {
    spent: sum(({ spent }) => spent) ?? 0,
    limit: sum((key) => key.limit),
    left: sum((key) => key.left),
  };
}
