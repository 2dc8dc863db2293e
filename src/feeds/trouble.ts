import { ExplorerError } from '../explorer/error.ts';
import { failures, type FailureClass } from '../explorer/failure.ts';
import { EnvelopeError } from '../walk/envelope.ts';
import type { FeedState } from './feed.ts';

/** Why a slice could not go on, in the terms of the class table. */
export interface Trouble {
  readonly feedState: FeedState;
  /** One line for people: what happened, then what to do. Holds no secret. */
  readonly reason: string;
  /** Whether the same slice may succeed later with nothing changed. */
  readonly passes: boolean;
  /** Whether it concerns this walk alone, or the whole feed. */
  readonly walkOnly: boolean;
  /** What the service asked for, in ms. */
  readonly retryAfterMs: number | null;
}

/** @returns null when the error is none of the explorer's, and so must be thrown on */
export function troubleOf(error: unknown): Trouble | null {
  if (error instanceof ExplorerError) {
    const status = error.status === null ? '' : `HTTP ${error.status}, `;
    return trouble(error.failure, `${status}${error.detail}`, error.retryAfterMs);
  }
  if (error instanceof EnvelopeError) return trouble('envelope-invalid', error.message, null);
  return null;
}

function trouble(failure: FailureClass, said: string, retryAfterMs: number | null): Trouble {
  const { feed, retry, stops, advice } = failures[failure];
  return {
    feedState: feed,
    reason: `${failure}: ${said}. ${advice}`,
    passes: retry === 'in-place' || feed === 'waiting',
    walkOnly: stops === 'walk',
    retryAfterMs,
  };
}

/** What the database would not take, as a trouble of the feed; `said` names no value. */
export function refusal(said: string): Trouble {
  return {
    feedState: 'degraded',
    reason: `not stored: ${said}. Nothing is lost: it is tried again with growing intervals; report it if it lasts.`,
    passes: true,
    walkOnly: false,
    retryAfterMs: null,
  };
}

/** First wait after a trouble, in ms; doubled for each that follows without progress between. */
const firstWaitMs = 5_000;
/** Longest wait, in ms: long outages cost the service one request in ten minutes. */
const longestWaitMs = 600_000;

/**
 * How long a feed rests after its nth trouble in a row, in ms: full jitter over the upper half, so
 * that feeds which failed together do not come back together.
 */
export function restMs(troubles: number, retryAfterMs: number | null, random: () => number) {
  const cap = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(troubles - 1, 30));
  return Math.max(retryAfterMs ?? 0, cap / 2 + (random() * cap) / 2);
}
