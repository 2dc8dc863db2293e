import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { type FailureClass, failures } from '../failure.ts';
import type { Reply } from './client.ts';
import { type ExplorerError, KeyPausedError, type Pause } from './error.ts';
import type { RateHeaders } from './response.ts';
import { type SlotReply, reserveSlot, openKey, pauseKey, resumeKey } from './slot.ts';

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
   * Corrects the rate by an answer's headers, and pauses the key for everyone if the answer stops it.
   * @throws KeyPausedError if that pause is longer than a worker waits
   */
  report(reply: { readonly slot: Slot } & Pick<Reply, 'error' | 'limits'>): Promise<void>;
}

export interface Slot {
  readonly page_id: number;
  /** When the slot was taken, on the database's clock. */
  readonly at: string;
  /** Whether the request checks if a refused key is accepted again. */
  readonly isPoll: boolean;
}

export interface BudgetOptions {
  readonly pool: Pool;
  readonly apiKey: string;
  readonly requestsPerSecond: number;
  /** Daily limit (UTC); null: none of ours. */
  readonly dailyCredits: number | null;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** Enough digits to separate keys, too few to test guessed keys against. */
const fingerprintDigits = 12;

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
 * Time until a refused key is polled again, in ms. A person fixes a key within minutes; one refused request in five
 * minutes is no burden.
 */
const pollAgainMs = 5 * 60_000;

function fingerprintKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, fingerprintDigits);
}

/**
 * Opens a budget that reserves evenly spaced slots in the key's row of `etl.budget`. One statement on the database's
 * clock is exact and fair across processes; a fixed window on the clients' clocks let through 85 of 50. It is also the
 * only round trip per page: the last headers travel with the next request.
 */
export async function openBudget(options: BudgetOptions): Promise<Budget> {
  const { pool, apiKey, requestsPerSecond, dailyCredits, sleep, now } = options;
  const fingerprint = fingerprintKey(apiKey);
  await pool.query(openKey, [fingerprint, requestsPerSecond, dailyCredits]);
  let reported: Pick<RateHeaders, 'limit' | 'creditsRemaining'> = nothingReported;

  /** `dueMs` is on this process's clock. */
  async function requestSlot(lane: BudgetLane, { hasTurn, unused }: SlotAttempt) {
    const { limit, creditsRemaining } = reported;
    reported = nothingReported;
    const sentMs = now();
    const values = [fingerprint, lane, hasTurn, limit, creditsRemaining, unused];
    const { rows } = await pool.query<SlotReply>({
      name: 'request_slot',
      text: reserveSlot,
      values,
    });
    const [reply] = rows;
    if (reply === undefined) throw new Error('the budget of the key is gone from etl.budget');
    // The statement ran between request and reply.
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
      // Ends: each round waits for a turn or a pause, and the signal cuts the wait.
      for (;;) {
        const reply = await requestSlot(lane, attempt);
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
    async report({ slot, error, limits }) {
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
      const paused = await pause(pauseMs(error), failure, said(error));
      if (paused !== null && paused.wait_ms > longestWaitMs) throw new KeyPausedError(paused);
    },
  };
}

interface SlotAttempt {
  /** Whether the request was queued before and now has its turn. */
  readonly hasTurn: boolean;
  /** Slots that are returned. */
  readonly unused: number;
}

const nothingReported = { limit: null, creditsRemaining: null };

const noneRemaining = 'the explorer says that no request remains until its limit is reset';

const said = ({ status, detail }: ExplorerError) =>
  status === null ? detail : `HTTP ${status}, ${detail}`;

/** How long an answer pauses its key, in ms; null: until the credits are reset. */
function pauseMs({ failure, retryAfterMs }: ExplorerError): number | null {
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
