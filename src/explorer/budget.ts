import type { Pool } from 'pg';
import { workersPresent } from '../db/presence.ts';
import { type FailureClass, failures } from '../failure.ts';
import type { Reply } from './client.ts';
import { type ExplorerError, KeyPausedError, pauseShape } from './error.ts';
import { fingerprintKey, type LimitedKey, whoStates } from './key.ts';
import type { RateHeaders } from './response.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

/** Live requests go before backfill. */
export type BudgetLane = 'live' | 'backfill';

/** Hands out a key's request slots to all workers and machines, on the database's clock. */
export interface Budget {
  /**
   * Waits for a lane's next free slot. One sequence numbers the slots for all workers: of two observations of a row,
   * the higher number is the newer, on no one's clock.
   * @throws KeyPausedError if the key is paused for longer than a worker waits
   */
  take(lane: BudgetLane, signal: AbortSignal): Promise<Slot>;
  /**
   * Corrects the rate by an answer's headers, and pauses the key for everyone if the answer stops it. Takes back the
   * credits of a request that never left.
   * @throws KeyPausedError if that pause is longer than a worker waits
   */
  report(reply: ReportedReply): Promise<void>;
}

export interface Slot {
  readonly page_id: number;
  /** When the slot was taken, on the database's clock. */
  readonly at: string;
  /** Class of the pause that the request tests: of a refused, exhausted or throttled key. Null: of none. */
  readonly tests: string | null;
}

interface ReportedReply extends Pick<Reply, 'limits'> {
  readonly slot: Slot;
  /** Null for a page. */
  readonly error: ExplorerError | null;
}

export interface BudgetOptions extends LimitedKey {
  readonly pool: Pool;
  /** Where that limit is set, such as `daily_credits in explorer-etl.yaml`. */
  readonly limitName: string;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** In ms; for a longer pause the slice gives way to others. */
const longestWaitMs = 30_000;

/**
 * How late a request may leave after its slot, in ms; a later one would crowd a full second and takes another slot. At
 * 97 % of the rate a second has 30 ms to spare, and the network needs some of them.
 */
const latestMs = 25;

/** Slots that a request may miss: a machine that is always late must go on too. */
const mostMissed = 3;

/** How often a waiting request checks a pause, in ms: it may end early. */
const pausedMs = 500;

/** Pause after a 429 without a stated wait, in ms: limits are counted by the second. */
const unstatedPauseMs = 1_000;

/**
 * Time until a paused key is polled again, in ms, however long the pause. A person fixes a key within minutes, and one
 * answer that asks for a day or finds no credits may be wrong; one refused request in five minutes is no burden.
 */
const pollAgainMs = 5 * 60_000;

/**
 * Opens a budget that reserves evenly spaced slots in the key's row of `etl.budget`. One statement on the database's
 * clock is exact and fair across processes; a fixed window on the clients' clocks let through 85 of 50. It is also the
 * only round trip per page: the last headers travel with the next request.
 */
export async function openBudget(options: BudgetOptions): Promise<Budget> {
  const { pool, apiKey, requestsPerSecond, dailyCredits, sleep, now } = options;
  const fingerprint = fingerprintKey(apiKey);
  await pool.query(openKey, [fingerprint, requestsPerSecond, dailyCredits]);
  let reported: Reported = nothingReported;

  /** `dueMs` is on this process's clock. */
  async function requestSlot(lane: BudgetLane, hasTurn: boolean) {
    const { limit, creditsRemaining, at: saidAt } = reported;
    reported = nothingReported;
    const sentMs = now();
    const values = [fingerprint, lane, hasTurn, limit, creditsRemaining, saidAt];
    const statement = { name: 'request_slot', text: reserveSlot, values };
    const [reply] = await rowsOf(pool, slotReplyShape, statement);
    if (reply === undefined) throw new Error('the budget of the key is gone from etl.budget');
    // The statement ran between request and reply.
    return { ...reply, dueMs: (sentMs + now()) / 2 + reply.wait_ms };
  }

  const giveBack = (at: string) => pool.query(returnSlot, [fingerprint, at]);

  const pause = async (forMs: number | null, failure: FailureClass, reason: string) =>
    (await rowsOf(pool, pauseShape, pauseKey, [fingerprint, forMs, failure, reason]))[0];

  return {
    async take(lane, signal) {
      let hasTurn = false;
      let missed = 0;
      // Ends: each round waits for a turn or a pause, and the signal cuts the wait.
      for (;;) {
        const reply = await requestSlot(lane, hasTurn);
        const { page_id, at, outcome, wait_ms, pause_class, dueMs } = reply;
        if (outcome === 'spent' || outcome === 'kept') throw await creditsUsed(reply, options);
        if (outcome === 'paused' && wait_ms > longestWaitMs) throw new KeyPausedError(reply);
        const waitMs = Math.max(1, Math.ceil(dueMs - now()));
        if (outcome === 'paused') await sleep(Math.min(waitMs, pausedMs), signal);
        else if (wait_ms > 0) await sleep(waitMs, signal);
        hasTurn = outcome === 'queued';
        if (page_id === null) continue;
        const isLate = wait_ms > 0 && now() - dueMs > latestMs;
        if (!isLate || missed === mostMissed) {
          return { page_id: Number(page_id), at, tests: outcome === 'poll' ? pause_class : null };
        }
        missed += 1;
        hasTurn = true;
        await giveBack(at);
      }
    },
    async report({ slot, error, limits }) {
      const { limit, remaining, resetMs, creditsRemaining } = limits;
      reported = {
        limit: limit ?? reported.limit,
        creditsRemaining: creditsRemaining ?? reported.creditsRemaining,
        at: creditsRemaining === null ? reported.at : slot.at,
      };
      if (error === null) {
        if (slot.tests !== null) await pool.query(resumeKey, [fingerprint, slot.tests]);
        if (remaining === 0 && resetMs !== null) await pause(resetMs, 'throttled', noneRemaining);
        return;
      }
      const { failure, isSent } = error;
      if (!isSent) await giveBack(slot.at);
      if (failures[failure].stops !== 'key') return;
      const paused = await pause(pauseMs(error), failure, error.text);
      if (paused !== undefined && paused.wait_ms > longestWaitMs) throw new KeyPausedError(paused);
    },
  };
}

/** What answers stated; `at`: when the request was made whose answer stated the credits. */
type Reported = Pick<RateHeaders, 'limit' | 'creditsRemaining'> & { readonly at: string | null };

const nothingReported: Reported = { limit: null, creditsRemaining: null, at: null };

const noneRemaining = 'the explorer says that no request remains until its limit is reset';

/** How long an answer pauses its key, in ms; null: until the credits are reset. */
function pauseMs({ failure, retryAfterMs }: ExplorerError): number | null {
  if (failure === 'throttled') return retryAfterMs ?? unstatedPauseMs;
  return failure === 'out-of-credits' ? null : pollAgainMs;
}

/** The error of a limit of ours: who states it may be another process, which has the key stop until it ends. */
async function creditsUsed(reply: SlotReply, { pool, apiKey, ...own }: BudgetOptions) {
  const dailyCredits = reply.daily_credits === null ? null : Number(reply.daily_credits);
  const isOwn = dailyCredits === own.dailyCredits;
  const limitName = isOwn
    ? own.limitName
    : `daily_credits of ${await whoStates(pool, apiKey, dailyCredits)}, while it works`;
  const pause_class: FailureClass = reply.outcome === 'spent' ? 'daily-limit' : 'history-share';
  const share = dailyCredits === null ? 'that the explorer reports' : `of a day (${limitName})`;
  const pause_reason =
    reply.outcome === 'spent'
      ? `the ${dailyCredits} credits of a day are used (${limitName})`
      : `history has used its share of the credits ${share} so far; the rest is for new data`;
  return new KeyPausedError({ ...reply, pause_class, pause_reason });
}

/** The used part of the rate: with 50 ms of jitter, a second then holds at most one too many. */
const pace = 0.97;

/**
 * How far ahead backfill reserves, in seconds (at least one slot): the longest wait of a live request behind it, and
 * the margin in which a late worker loses no slot.
 */
const horizonSeconds = 0.05;

/** The service's charge for a page of a list. */
export const creditsPerRequest = 20;

/** The share of a day's remaining credits for live: a long history would use them up every day. */
const reservedShare = 0.2;

/** The free plan's rate. A faster plan is served beyond its credits, so what it reports of them limits nothing. */
const freeRequestsPerSecond = 5;

/** In seconds: until another request may poll a refused key. */
const pollSeconds = 10;

const untilFormat = 'YYYY-MM-DD HH24:MI:SS "UTC"';

/** More slots ahead than workers. A head farther away would block everyone, and is ignored. */
const farthestSlots = 1000;

/** As SQL: when the next request tests the key, if none leaves before. */
const nextTest = `next_at + interval '${pollAgainMs} ms'`;

/** As SQL: the end of a pause or, in a long one, the time of the next test. */
const silentUntil = `case when paused_until > ${nextTest} then ${nextTest} else paused_until end`;

/**
 * Requests a slot: $1 fingerprint, $2 lane, $3 whether the request was queued and now has its turn, $4 and $5 newly
 * stated limit and credits (null: none), $6 when the credits were stated.
 *
 * The row is locked before the clock is read, so slots and page numbers have one order. Live takes the next slot at
 * once. Backfill takes it only within the horizon; otherwise it gets a turn, one per slot, so that waiting workers do
 * not all retry at once. A request without a turn may pass them only if a slot would be lost.
 */
const reserveSlot = `
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
         case when credits_day >= utc::date then credits_spent else 0 end as spent,
         coalesce(
           case when ($6::timestamptz at time zone 'utc')::date >= utc::date then floor($5::float8)::bigint end,
           case when credits_day >= utc::date then credits_remaining end
         ) as remaining
  from present
), measured as materialized (
  select *,
         coalesce(daily_credits,
           case when remaining > 0 and coalesce(service_limit, requests_per_second) <= ${freeRequestsPerSecond}
             then spent + remaining end) as day_credits,
         make_interval(secs => 1 / (${pace} * least(requests_per_second, service_limit))) as gap,
         (date_trunc('day', utc) + interval '1 day') at time zone 'utc' as midnight,
         (date_trunc('hour', utc) + interval '1 hour') at time zone 'utc' as full_hour
  from reported
), placed as materialized (
  select *,
         floor(day_credits * ${reservedShare} * (24 - extract(hour from utc)) / 24
           / ${creditsPerRequest}) * ${creditsPerRequest} as reserved,
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
      when ${silentUntil} > now then 'paused'
      when spent + ${creditsPerRequest} > daily_credits then 'spent'
      when pause_class <> 'throttled' or paused_until > now then 'poll'
      when $2 = 'live' then 'granted'
      when reserved > 0 and spent + ${creditsPerRequest} > day_credits - reserved
        -- What one answer stated may be wrong, and no other request shows so.
        and (daily_credits is not null or ${nextTest} > now) then 'kept'
      when head > horizon then 'queued'
      when head > now and tail is not null and not $3 then 'queued'
      else 'granted'
    end as outcome
  from placed
), timed as materialized (
  select *,
    case outcome
      when 'paused' then ${silentUntil}
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
    paused_until = case when outcome = 'poll'
      then greatest(timed.paused_until, now + make_interval(secs => ${pollSeconds}))
      else timed.paused_until end,
    service_limit = timed.service_limit,
    credits_day = utc::date,
    credits_spent = case when outcome in ('granted', 'poll') then spent + ${creditsPerRequest}
                         else spent end,
    credits_remaining = remaining,
    requests = requests + case when outcome in ('granted', 'poll') then 1 else 0 end,
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
  timed.daily_credits`;

const slotReplyShape = () =>
  z.object({
    /**
     * 'poll' is a slot that tests a refused or exhausted key. 'queued': request again after the wait.
     * 'paused', 'spent' (our limit of a day) and 'kept' (backfill's share is used): nothing before then.
     */
    outcome: z.enum(['granted', 'poll', 'queued', 'paused', 'spent', 'kept']),
    wait_ms: z.number(),
    /** The end of the wait, for people. */
    until: z.string(),
    /** Null: no slot. */
    page_id: z.string().nullable(),
    at: z.string(),
    pause_class: z.string().nullable(),
    pause_reason: z.string().nullable(),
    /** The lowest that processes at work state; null: none. */
    daily_credits: z.string().nullable(),
  });
export type SlotReply = z.infer<ReturnType<typeof slotReplyShape>>;

/**
 * Registers the key with its limits: $1 fingerprint, $2 requests per second, $3 credits a day. Of those that processes
 * at work state, the lowest hold. It forgets what the service stated and lets a refused key be polled at once: a
 * person who starts a process may have fixed it.
 */
const openKey = `
with stated as (
  select min((limits -> $1 ->> 'requests_per_second')::float8) as rate,
         min((limits -> $1 ->> 'daily_credits')::bigint) as credits
  from (${workersPresent}) as present
)
insert into etl.budget as budget (key_fingerprint, requests_per_second, daily_credits, next_at)
select $1, least($2, rate), least($3, credits), clock_timestamp() from stated
on conflict (key_fingerprint) do update
set requests_per_second = excluded.requests_per_second,
    daily_credits = excluded.daily_credits,
    service_limit = null,
    credits_remaining = null,
    paused_until = case when budget.pause_class = 'throttled' then budget.paused_until end`;

/** As SQL: whether a longer pause is set. One until a stated time gives way to a refusal: it would hide it for a day. */
const isLonger = `(paused_until >= until
  and ($3 in (pause_class, 'throttled') or pause_class not in ('throttled', 'out-of-credits')))`;

/** Pauses the key, unless it `isLonger`: $1 fingerprint, $2 ms (null: to the end of the day, UTC), $3 class, $4 reason. */
const pauseKey = `
update etl.budget
set paused_until = case when ${isLonger} then paused_until else until end,
    pause_class = case when ${isLonger} then pause_class else $3 end,
    pause_reason = case when ${isLonger} then pause_reason else $4 end
from (
  select coalesce(
    clock_timestamp() + make_interval(secs => $2::float8 / 1000),
    (date_trunc('day', clock_timestamp() at time zone 'utc') + interval '1 day') at time zone 'utc'
  ) as until
) as pause
where key_fingerprint = $1
returning pause_class, pause_reason,
          1000 * extract(epoch from ${silentUntil} - clock_timestamp())::float8 as wait_ms,
          to_char(${silentUntil} at time zone 'utc', '${untilFormat}') as until`;

/** Ends a pause after a successful poll, unless another cause has come: $1 fingerprint, $2 class that it tested. */
const resumeKey = `
update etl.budget
set paused_until = null, pause_class = null, pause_reason = null
where key_fingerprint = $1 and pause_class = $2`;

/** Takes back a slot and its credits: $1 fingerprint, $2 when it was taken. */
const returnSlot = `
update etl.budget
set requests = requests - 1,
    credits_spent = case when credits_day = ($2::timestamptz at time zone 'utc')::date
      then greatest(0, credits_spent - ${creditsPerRequest}) else credits_spent end
where key_fingerprint = $1`;
