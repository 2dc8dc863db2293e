import { ExplorerError } from './error.ts';
import { failures } from '../failure.ts';

/** Attempts of one request that may fail; a longer outage is the schedule's to wait for. */
export const defaultMaxAttempts = 4;

/** Times as many may be throttled: that is the service's pace, not its failure. */
const throttledFactor = 2;

/** First back-off, in ms: about one round trip to a far server. */
const shortestMs = 250;

/** Largest back-off of ours, in ms: a longer outage does not hold a worker. */
const longestMs = 8_000;

/** Longest wait that a service may impose on a request, in ms: longer ones are the budget's. */
const longestImposedMs = 60_000;

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Resolves after `ms`, rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Makes an attempt until one succeeds, the class of a failure says that repeating cannot help,
 * or the attempts are used up: `maxAttempts` failures, or twice as many throttled answers.
 * Waits in between for as long as the service says (at most a minute), else with full jitter
 * up to an exponentially growing bound. Throws the last ExplorerError; any other error at once;
 * the signal's reason as soon as it aborts.
 */
export async function retry<T>(
  attempt: (number: number) => Promise<T>,
  policy: RetryPolicy,
): Promise<T> {
  const used = { 'as-failure': 0, 'as-wait': 0 };
  const limit = {
    'as-failure': policy.maxAttempts,
    'as-wait': policy.maxAttempts * throttledFactor,
  };
  // Ends: each round returns, throws, or uses up one of the two limits.
  for (let number = 1; ; number += 1) {
    policy.signal.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      policy.signal.throwIfAborted();
      if (!(error instanceof ExplorerError)) throw error;
      const { retry: repeat, counts } = failures[error.failure];
      used[counts] += 1;
      if (repeat === 'none' || used[counts] >= limit[counts]) throw error;
      await wait(delayMs(error.retryAfterMs, used[counts], policy.random), policy);
    }
  }
}

/**
 * The wait before the next attempt, in ms, after the `failed`th failure of its kind. Full jitter:
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/. A wait that the
 * service stated is a lower bound, and jitter on top keeps workers from returning all at once.
 */
export function delayMs(retryAfterMs: number | null, failed: number, random: () => number): number {
  const backoffMs = random() * Math.min(shortestMs * 2 ** (failed - 1), longestMs);
  if (retryAfterMs === null) return Math.round(backoffMs);
  const imposedMs = Math.min(retryAfterMs, longestImposedMs);
  return Math.round(Math.min(imposedMs + random() * shortestMs, longestImposedMs));
}

async function wait(ms: number, policy: RetryPolicy): Promise<void> {
  try {
    await policy.sleep(ms, policy.signal);
  } finally {
    // However sleep says that it was cut short, the caller sees the reason that it gave.
    policy.signal.throwIfAborted();
  }
}
