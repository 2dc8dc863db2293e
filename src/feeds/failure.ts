import { codeOfFailure, describeDatabaseError, isOfDatabase, rootOf } from '../db/failure.ts';
import { ExplorerError, KeyPausedError } from '../explorer/error.ts';
import { type FailureClass, failures, type Why } from '../failure.ts';
import type { FeedState } from '../lists/feed.ts';
import { EnvelopeError } from '../walk/envelope.ts';

/** Why a slice could not go on, in the terms of the class table. */
export interface FeedFailure extends Why {
  readonly failure: FailureClass;
  readonly feedState: FeedState | null;
  /** What happened, in one line. Holds no secret. */
  readonly said: string;
  /** The class, what happened and what to do, in one line. */
  readonly reason: string;
  /** Whether the same slice may succeed later with nothing changed. */
  readonly passes: boolean;
  /** Whether it concerns this walk alone, or the whole feed. */
  readonly walkOnly: boolean;
  /** Whether it concerns every feed of the key. */
  readonly isOfKey: boolean;
  /** What the service asked for, or how long the key is paused, in ms. */
  readonly retryAfterMs: number | null;
}

/** @returns null when the error is none of the explorer's, and so must be thrown on */
export function failureOf(error: unknown): FeedFailure | null {
  if (error instanceof ExplorerError) {
    const status = error.status === null ? '' : `HTTP ${error.status}, `;
    return feedFailure(error.failure, `${status}${error.detail}`, error.retryAfterMs);
  }
  if (error instanceof KeyPausedError) {
    return feedFailure(error.failure, error.detail, error.retryAfterMs);
  }
  if (error instanceof EnvelopeError) return feedFailure('envelope-invalid', error.message, null);
  return null;
}

/** A defect of the program as a failure of the feed, and where in the code it is. */
export interface Defect {
  readonly feedFailure: FeedFailure;
  /** The calls that led to it, one a line, innermost first. */
  readonly stack: string;
}

/**
 * @returns null where something outside the program reported the error: Postgres with its SQLSTATE, or the
 *   system with its code. A later attempt may succeed there; a defect fails each time.
 */
export function defectOf(error: unknown): Defect | null {
  const root = rootOf(error);
  const isOfLanguage = root instanceof TypeError || root instanceof RangeError;
  if (isOfDatabase(error) || (codeOfFailure(error) !== null && !isOfLanguage)) return null;
  const { name, stack = '' } = root instanceof Error ? root : new Error('not an error');
  const frames = stack.split('\n').map((line) => line.trim());
  return {
    feedFailure: feedFailure('internal-error', `${name}: ${describeDatabaseError(error)}`, null),
    stack: frames.filter((line) => line.startsWith('at ')).join('\n'),
  };
}

/** What the database would not take, as a failure of the feed; `said` names no value. */
export const refusal = (said: string): FeedFailure => feedFailure('not-stored', said, null);

function feedFailure(
  failure: FailureClass,
  said: string,
  retryAfterMs: number | null,
): FeedFailure {
  const { feed, again, stops, advice } = failures[failure];
  return {
    failure,
    feedState: feed,
    said,
    reason: `${failure}: ${said}. ${advice}`,
    passes: again === 'growing' || again === 'stated' || again === 'poll',
    walkOnly: stops === 'walk',
    isOfKey: stops === 'key',
    retryAfterMs,
  };
}

/** First wait after a failure, in ms; doubled for each that follows without progress between. */
const firstWaitMs = 5_000;
/** Longest wait, in ms: long outages cost the service one request in ten minutes. */
const longestWaitMs = 600_000;

/** Part of a stated wait that may be added to it, and the most in ms: all who wait know one end. */
const jitter = { share: 0.1, mostMs: 30_000 };

/**
 * How long a feed rests after its nth failure in a row, in ms: full jitter over the upper half, so
 * that feeds which failed together do not come back together. Where the service or the key's pause
 * says how long, that and a little more: it does not grow, because being paused is no failure.
 */
export function restMs(
  { failure, retryAfterMs }: Pick<FeedFailure, 'failure' | 'retryAfterMs'>,
  inARow: number,
  random: () => number,
): number {
  const cap = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(inARow - 1, 30));
  const ownMs = cap / 2 + (random() * cap) / 2;
  if (retryAfterMs === null) return ownMs;
  const statedMs = retryAfterMs + random() * Math.min(retryAfterMs * jitter.share, jitter.mostMs);
  return failures[failure].again === 'growing' ? Math.max(statedMs, ownMs) : statedMs;
}
