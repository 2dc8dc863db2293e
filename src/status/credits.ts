import { sql } from 'drizzle-orm';
import { processName, workersPresent } from '../db/presence.ts';
import { execute, type Database } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { failureClasses, failures } from '../failure.ts';
import { sumKnown } from './estimate.ts';
import { keyCredits, type StatusDocument } from './schema.ts';
import { z } from 'zod';

type Credits = StatusDocument['credits'];
type Amounts = Pick<Credits, 'spent' | 'limit' | 'left'>;
export type KeyCredits = Credits['keys'][number];
type Forecast = Credits['forecast'];

/** A key stays refused until a request succeeds, also between those that test it. */
const refusals = failureClasses.filter((failure) => failures[failure].nextTry === 'poll');

/** Whether the explorer refuses a key that a process at work uses. */
export const isRefusedInUse = ({ failure, limits }: KeyCredits): boolean =>
  limits.length > 0 && failure !== null && refusals.includes(failure);

/** Credits spent by every key today (UTC), without the keys' identity, and the database's time. */
export async function readCredits(db: Database): Promise<{ at: Date; keys: KeyCredits[] }> {
  const { ms, keys } = await execute(db).one(() =>
    z.object({ ms: z.number(), keys: z.array(keyCredits) }),
  )`/* credits */
    with key as (
      select *, credits_day is not distinct from (clock_timestamp() at time zone 'utc')::date as is_today,
             coalesce(paused_until > clock_timestamp(), false) as is_paused,
             coalesce(pause_class = any(${sql.param(refusals)}::text[]), false) as is_refused
      from etl.budget
    ), today as (
      select *, case when is_today then credits_spent else 0 end as spent,
             case when is_today then credits_remaining end as remaining
      from key
    )
    select (1000 * extract(epoch from clock_timestamp()))::float8 as ms,
           coalesce(json_agg(json_build_object(
             'spent', spent,
             'limit', daily_credits,
             -- What a 402 says is newer than the last balance.
             'left', case when is_paused and pause_class = 'out-of-credits' then 0
                          else least(daily_credits - spent, remaining) end,
             'paused_until', case when is_paused then paused_until end,
             'failure', case when is_paused or is_refused then pause_class end,
             'reason', case when is_paused or is_refused then pause_reason end,
             'limits', (
               select coalesce(json_agg(stated order by stated::text), '[]')
               from (
                 select limits -> key_fingerprint || jsonb_build_object('stated_by', json_agg(
                   distinct ${sql.raw(processName)})) as stated
                 from (${sql.raw(workersPresent)}) as present
                 where limits ? key_fingerprint
                 group by limits -> key_fingerprint
               ) as differing
             )
           ) order by key_fingerprint), '[]') as keys
    from today
  `;
  return { at: new Date(ms), keys };
}

export interface WorkLeft {
  /** Requests of a day's polls, as far as known. */
  readonly pollsPerDay: number;
  /** Requests of history; null: unknown for some history or polls. */
  readonly history: { readonly least: number; readonly most: number } | null;
}

/** The sum of all keys, and a forecast of it. Pure. */
export function creditsOf(keys: readonly KeyCredits[], work: WorkLeft, at: Date): Credits {
  const sum = sumCredits(keys);
  return { ...sum, forecast: forecastCredits({ ...sum, ...work }, at), keys: [...keys] };
}

const sum = (amounts: readonly (number | null)[]) =>
  amounts.length === 0 ? null : sumKnown(amounts);

/** The sum of keys that processes at work use, or else of all; null: a key has no limit, or there is no key. */
export function sumCredits(all: readonly KeyCredits[]): Amounts {
  const used = all.filter(({ limits }) => limits.length > 0);
  const keys = used.length > 0 ? used : all;
  // What a refused key has left cannot be spent.
  const usable = keys.filter(({ failure }) => failure === null || !refusals.includes(failure));
  return {
    spent: sum(keys.map(({ spent }) => spent)) ?? 0,
    limit: sum(keys.map(({ limit }) => limit)),
    left: sum(usable.map(({ left }) => left)),
  };
}

const daySeconds = 86_400;

/**
 * Forecasts whether the credits last until midnight UTC: polls come first, history can wait for the next day. The
 * pace of a first read does not predict later hours. Pure.
 */
export function forecastCredits(
  { spent, limit, left, history, pollsPerDay }: Amounts & WorkLeft,
  at: Date,
): Forecast {
  if (left === null) return { kind: 'no-limit' };
  const midnight = new Date(at);
  midnight.setUTCHours(24, 0, 0, 0);
  if (left < creditsPerRequest) {
    // Larger plans are served below zero: only our limit, or a 402, ends the day.
    const isSpent = limit !== null && limit - spent < creditsPerRequest;
    return isSpent ? { kind: 'spent', until: midnight.toISOString() } : { kind: 'no-limit' };
  }
  const restSeconds = (midnight.getTime() - at.getTime()) / 1000;
  const pages = left / creditsPerRequest;
  const forHistory = pages - (pollsPerDay * restSeconds) / daySeconds;
  if (forHistory < 0) {
    const lastsMs = (1000 * daySeconds * pages) / pollsPerDay;
    return { kind: 'lasts-until', at: new Date(at.getTime() + lastsMs).toISOString() };
  }
  if (history === null) return { kind: 'unknown' };
  if (history.most <= forHistory) return { kind: 'enough' };
  const pagesPerDay = (limit ?? spent + left) / creditsPerRequest - pollsPerDay;
  // History of unknown length may end today.
  const days = (requests: number) =>
    Math.max(0, Math.ceil((requests - forHistory) / Math.max(1, pagesPerDay)));
  return {
    kind: 'history-takes-days',
    days: { least: days(history.least), most: days(history.most) },
  };
}
