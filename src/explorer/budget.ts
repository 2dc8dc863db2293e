import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { type FailureClass, failures } from '../failure.ts';
import type { Reported } from './client.ts';
import { type ExplorerError, KeyPausedError, type Pause } from './error.ts';
import type { RateHeaders } from './response.ts';
import { type SlotReply, reserveSlot, openKey, pauseKey, resumeKey } from './slot.ts';

/** Who asks: what is new goes before history. */
export type BudgetLane = 'live' | 'backfill';

/** Hands out a key's request slots to all workers and machines, on the database's clock. */
export interface Budget {
  /**
   * Takes the next free slot of a lane and waits for it. Slots are numbered in their order, by one
   * sequence for all workers: of two observations of a row the one with the higher number is the newer,
   * on no one's clock.
   *
   * @throws KeyPausedError when no request of the key may leave for longer than a worker waits
   */
  take(lane: BudgetLane, signal: AbortSignal): Promise<Slot>;
  /**
   * Takes in what an answer says of the key: its headers correct the rate, and one that stops the key
   * pauses it for everyone.
   *
   * @throws KeyPausedError when the answer paused the key for longer than a worker waits
   */
  report(told: Omit<Reported<Slot>, 'serviceMs'>): Promise<void>;
}

/** The right to make one request. */
export interface Slot {
  readonly page_id: number;
  /** When it was taken, on the database's clock. */
  readonly at: string;
  /** Whether it is the one that looks if a refused key is accepted again. */
  readonly isPoll: boolean;
}

export interface BudgetOptions {
  readonly pool: Pool;
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  /** Credits that a day (UTC) may cost at most; null: no limit of ours. */
  readonly dailyCredits: number | null;
  /** How long until a key that was refused is looked at again, in ms. */
  readonly pollAgainMs?: number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** Identifies a key without revealing it: enough digits to separate keys, too few to try keys against. */
const fingerprintDigits = 12;

/** Longest pause that a worker waits for, in ms; for a longer one its slice gives way to others. */
const longestWaitMs = 30_000;

/**
 * How late a request may leave after its slot, in ms. One that a busy machine delays for longer would crowd
 * into a second that is full: it takes another slot. At 97 % of the rate a second has 30 ms to spare, however
 * far slots are apart, and the network wants some of them.
 */
const latestMs = 25;

/** Slots that one request may miss; a machine that is always late must go on too. */
const mostMissed = 3;

/** How often one who waits for the end of a pause asks again, in ms: it may end before its time. */
const pausedMs = 500;

/** Pause after a 429 that does not say how long, in ms: limits are counted by the second. */
const unstatedPauseMs = 1_000;

/** A person fixes a key within minutes, and one refused request in five of them is no burden. */
const defaultPollAgainMs = 5 * 60_000;

/** What stands for a key in tables: the first digits of its SHA-256. */
function fingerprintKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, fingerprintDigits);
}

/** What a key has cost a database today, and what the service said last of the rest. */
export interface Spending {
  readonly credits_spent: number;
  /** Null: not said today. */
  readonly credits_remaining: number | null;
}

/** What is known of a key's day (UTC); null where it made no request yet. */
export async function readSpending(pool: Pool, apiKey: string): Promise<Spending | null> {
  const { rows } = await pool.query<Spending>(
    `select credits_spent::float8, credits_remaining::float8 from etl.budget
     where key_fingerprint = $1 and credits_day = (clock_timestamp() at time zone 'utc')::date`,
    [fingerprintKey(apiKey)],
  );
  return rows[0] ?? null;
}

/**
 * A budget whose slots are reserved one by one in the key's row of `etl.budget`, evenly spaced. One
 * statement on the database's clock is exact and fair across processes, where a fixed window on
 * the clients' clocks let through 85 of 50. It is also the one round trip that is paid for every
 * page: what the headers said travels with the next request for a slot.
 */
export async function openBudget(options: BudgetOptions): Promise<Budget> {
  const { pool, apiKey, requestsPerSecond, dailyCredits, sleep, now } = options;
  const { pollAgainMs = defaultPollAgainMs } = options;
  const fingerprint = fingerprintKey(apiKey);
  await pool.query(openKey, [fingerprint, requestsPerSecond, dailyCredits]);
  let reported: Pick<RateHeaders, 'limit' | 'creditsRemaining'> = nothingReported;

  /** @returns with when what was answered comes true, on this process's clock */
  async function ask(lane: BudgetLane, { hasTurn, unused }: SlotAttempt) {
    const { limit, creditsRemaining } = reported;
    reported = nothingReported;
    const sentMs = now();
    const { rows } = await pool.query<SlotReply>({
      name: 'ask_for_slot',
      text: reserveSlot,
      values: [fingerprint, lane, hasTurn, limit, creditsRemaining, unused],
    });
    const [reply] = rows;
    if (reply === undefined) throw new Error('the budget of the key is gone from etl.budget');
    // The statement ran somewhere between the question and the answer.
    return { ...reply, dueMs: (sentMs + now()) / 2 + reply.wait_ms };
  }

  async function pause(forMs: number | null, failure: FailureClass, reason: string) {
    const { rows } = await pool.query<Pause>(pauseKey, [fingerprint, forMs, failure, reason]);
    return rows[0] ?? null;
  }

  return {
    async take(lane, signal) {
      let attempt: SlotAttempt = { hasTurn: false, unused: 0 };
      let missed = 0;
      // Ends: each round waits for a turn or a pause that passes, and the signal cuts the wait.
      for (;;) {
        const reply = await ask(lane, attempt);
        const { page_id, at, outcome, wait_ms, dueMs } = reply;
        if (outcome === 'spent' || outcome === 'kept') throw creditsUsed(reply);
        if (outcome === 'paused' && wait_ms > longestWaitMs) throw new KeyPausedError(reply);
        const waitMs = Math.max(1, Math.ceil(dueMs - now()));
        if (outcome === 'paused') await sleep(Math.min(waitMs, pausedMs), signal);
        else if (wait_ms > 0) await sleep(waitMs, signal);
        attempt = { hasTurn: outcome === 'queued', unused: 0 };
        if (page_id === null) continue;
        const isLate = wait_ms > 0 && now() - dueMs > latestMs;
        if (!isLate || missed === mostMissed) {
          return { page_id: Number(page_id), at, isPoll: outcome === 'poll' };
        }
        missed += 1;
        attempt = { hasTurn: true, unused: 1 };
      }
    },
    async report({ admission: slot, error, limits }) {
      const { limit, remaining, resetMs, creditsRemaining } = limits;
      reported = {
        limit: limit !== null && limit > 0 ? limit : reported.limit,
        creditsRemaining: creditsRemaining ?? reported.creditsRemaining,
      };
      if (error === null) {
        if (slot.isPoll) await pool.query(resumeKey, [fingerprint]);
        if (remaining === 0 && resetMs !== null) await pause(resetMs, 'throttled', noneRemaining);
        return;
      }
      const { failure } = error;
      if (failures[failure].stops !== 'key') return;
      const paused = await pause(pauseMs(error, pollAgainMs), failure, said(error));
      if (paused !== null && paused.wait_ms > longestWaitMs) throw new KeyPausedError(paused);
    },
  };
}

interface SlotAttempt {
  /** Whether the asker was sent away before, and now has its turn. */
  readonly hasTurn: boolean;
  /** Slots of this asker that are given back. */
  readonly unused: number;
}

const nothingReported = { limit: null, creditsRemaining: null };

const noneRemaining = 'the explorer says that no request remains until its limit is reset';

const said = ({ status, detail }: ExplorerError) =>
  status === null ? detail : `HTTP ${status}, ${detail}`;

/** For how long an answer pauses its key, in ms; null: until the credits are reset. */
function pauseMs({ failure, retryAfterMs }: ExplorerError, pollAgainMs: number): number | null {
  if (failure === 'throttled') return retryAfterMs ?? unstatedPauseMs;
  return failure === 'out-of-credits' ? null : pollAgainMs;
}

function creditsUsed(reply: SlotReply): KeyPausedError {
  const pause_class: FailureClass = 'out-of-credits';
  return new KeyPausedError({ ...reply, pause_class, pause_reason: usedUp(reply) });
}

function usedUp({ outcome, is_own_limit }: SlotReply): string {
  if (outcome === 'kept') {
    return 'history has used its part of the credits (explorer.daily_credits) so far; the rest is kept for what is new';
  }
  return is_own_limit === true
    ? 'the credits of the day (explorer.daily_credits) are used'
    : 'the explorer says that no credits remain';
}
