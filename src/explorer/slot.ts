/**
 * Part of the rate that is used. Slots leave evenly spaced, but reach the service with the network's
 * jitter; at 97 % a second that some of them enter 50 ms late still holds at most one too many.
 */
const pace = 0.97;

/**
 * How far ahead backfill may reserve, in seconds: what a live request waits behind it at most, and
 * the margin in which a late worker loses no slot. Never less than one slot.
 */
const horizonSeconds = 0.05;

/** What the service charges for a page of a list. */
export const creditsPerRequest = 20;

/**
 * Part of a day's credits that backfill leaves to live, as far as the day is not over: a history
 * that takes days would else leave nothing for what is new from some hour on, every day.
 */
const reservedShare = 0.2;

/** How long one poll of a key that was refused may take before another may look, in seconds. */
const pollSeconds = 10;

/** How the end of a pause is printed. */
const untilFormat = 'YYYY-MM-DD HH24:MI:SS "UTC"';

/**
 * Slots that may be taken ahead: more than there are workers. A head that is farther away is not
 * theirs, and counts as none: it would hold everyone, and history for as long as that lies ahead.
 */
const farthestSlots = 1000;

/**
 * Asks for a slot: $1 fingerprint, $2 lane, $3 whether the asker was sent away and now has its turn,
 * $4 and $5 the limit and the credits that the service stated since (null: nothing new), $6 how many
 * slots are given back unused.
 *
 * The row is locked before the clock is read, so that slots are handed out in their order, and page
 * numbers with them. Live takes the next slot at once. Backfill takes it only within the horizon;
 * otherwise it gets a turn, one a slot, so that any number of waiting workers ask once a slot and
 * not all at once. One who has no turn may pass them only where a slot would be lost.
 */
export const reserveSlot = `
with locked as materialized (
  select * from etl.budget where key_fingerprint = $1 for update
), timed_row as materialized (
  select *, clock_timestamp() as now from locked
), present as materialized (
  select *, now at time zone 'utc' as utc from timed_row
), reported as materialized (
  select now, utc, pause_class, pause_reason, daily_credits, requests_per_second,
         paused_until, next_at, queue_at,
         coalesce($4::float8, service_limit) as service_limit,
         case when credits_day >= utc::date
           then greatest(0, credits_spent - ${creditsPerRequest} * $6::int) else 0 end as spent,
         coalesce(
           $5::bigint,
           case when credits_day >= utc::date then credits_remaining end
         ) as remaining
  from present
), measured as materialized (
  select *,
         make_interval(secs => 1 / (${pace} * least(requests_per_second, service_limit))) as gap,
         (date_trunc('day', utc) + interval '1 day') at time zone 'utc' as midnight,
         (date_trunc('hour', utc) + interval '1 hour') at time zone 'utc' as full_hour,
         floor(daily_credits * ${reservedShare} * (24 - extract(hour from utc)) / 24
           / ${creditsPerRequest}) * ${creditsPerRequest} as reserved
  from reported
), placed as materialized (
  select *,
         case when next_at <= now + ${farthestSlots} * gap then next_at else now end as head,
         case when queue_at > now and queue_at <= now + ${farthestSlots} * gap
           then queue_at end as tail,
         now + greatest(gap, make_interval(secs => ${horizonSeconds})) as horizon
  from measured
), decided as materialized (
  select *,
    greatest(head, now) as slot,
    greatest(tail, now + (head - horizon), now) as turn,
    case
      when paused_until > now then 'paused'
      when spent + ${creditsPerRequest} > daily_credits then 'spent'
      when remaining < ${creditsPerRequest} then 'spent'
      when pause_class <> 'throttled' then 'poll'
      when $2 = 'live' then 'granted'
      when spent + ${creditsPerRequest} > daily_credits - reserved then 'kept'
      when head > horizon then 'queued'
      when head > now and tail is not null and not $3 then 'queued'
      else 'granted'
    end as outcome
  from placed
), timed as materialized (
  select *,
    case outcome
      when 'paused' then paused_until
      when 'spent' then midnight
      when 'kept' then full_hour
      when 'queued' then turn
      else slot
    end as wait_until
  from decided
)
update etl.budget as budget
set next_at = case when outcome in ('granted', 'poll') then slot + gap else timed.next_at end,
    queue_at = case when outcome = 'queued' then turn + gap else timed.queue_at end,
    paused_until = case when outcome = 'poll' then now + make_interval(secs => ${pollSeconds})
                        else timed.paused_until end,
    service_limit = timed.service_limit,
    credits_day = utc::date,
    credits_spent = case when outcome in ('granted', 'poll') then spent + ${creditsPerRequest}
                         else spent end,
    credits_remaining = remaining,
    requests = requests - $6::int + case when outcome in ('granted', 'poll') then 1 else 0 end,
    updated_at = now
from timed
where budget.key_fingerprint = $1
returning
  outcome,
  1000 * extract(epoch from wait_until - clock_timestamp())::float8 as wait_ms,
  to_char(wait_until at time zone 'utc', '${untilFormat}') as until,
  case when outcome in ('granted', 'poll') then nextval('etl.pages_id_seq') end as page_id,
  clock_timestamp()::text as at,
  timed.pause_class,
  timed.pause_reason,
  spent + ${creditsPerRequest} > budget.daily_credits as is_own_limit`;

/** What the budget answers to one who asks for a slot. */
export interface SlotReply {
  /**
   * 'poll' is a slot too: the one request that looks whether a refused key is accepted again.
   * 'queued': ask again then. 'paused', 'spent' (the day's credits), 'kept' (those that backfill may
   * use): nothing before then.
   */
  readonly outcome: 'granted' | 'poll' | 'queued' | 'paused' | 'spent' | 'kept';
  readonly wait_ms: number;
  /** When that is, for people. */
  readonly until: string;
  /** Null where no slot was given. */
  readonly page_id: string | null;
  readonly at: string;
  readonly pause_class: string | null;
  readonly pause_reason: string | null;
  /** Whether it is the configured limit of a day's credits that is used up, not the service's. */
  readonly is_own_limit: boolean | null;
}

/**
 * Makes the key known with its limits: $1 fingerprint, $2 requests per second, $3 credits a day. What
 * the service said before is forgotten, and a refused key may be looked at, once, without waiting:
 * a person who starts a process may have fixed what was wrong.
 */
export const openKey = `
insert into etl.budget as budget (key_fingerprint, requests_per_second, daily_credits, next_at)
values ($1, $2, $3, clock_timestamp())
on conflict (key_fingerprint) do update
set requests_per_second = excluded.requests_per_second,
    daily_credits = excluded.daily_credits,
    service_limit = null,
    credits_remaining = null,
    paused_until = case when budget.pause_class = 'throttled' then budget.paused_until end`;

/**
 * Pauses the key, unless a longer pause is there: $1 fingerprint, $2 for how long, in ms (null: to
 * the end of the day, UTC), $3 class, $4 reason.
 */
export const pauseKey = `
update etl.budget
set paused_until = greatest(paused_until, until),
    pause_class = case when paused_until >= until then pause_class else $3 end,
    pause_reason = case when paused_until >= until then pause_reason else $4 end
from (
  select coalesce(
    clock_timestamp() + make_interval(secs => $2::float8 / 1000),
    (date_trunc('day', clock_timestamp() at time zone 'utc') + interval '1 day') at time zone 'utc'
  ) as until
) as pause
where key_fingerprint = $1
returning pause_class, pause_reason,
          1000 * extract(epoch from paused_until - clock_timestamp())::float8 as wait_ms,
          to_char(paused_until at time zone 'utc', '${untilFormat}') as until`;

/** Ends the pause of a key that a poll found accepted: $1 fingerprint. */
export const resumeKey = `
update etl.budget
set paused_until = null, pause_class = null, pause_reason = null
where key_fingerprint = $1`;
