import { type FailureClass, failures } from '../failure.ts';

/** What is known of a failed request. Every text in it must be redacted already. */
export interface FailureReport {
  readonly failure: FailureClass;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** Short, redacted, one line. */
  readonly detail: string;
  /** How long the service says to wait, in ms; null if it does not say. */
  readonly retryAfterMs?: number | null;
  readonly cause?: Error;
}

/**
 * A request that failed, with its class. What to do about it is `failures[error.failure]`.
 * Holds no URL, parameter or secret, in any property or cause.
 */
export class ExplorerError extends Error {
  override readonly name = 'ExplorerError';
  readonly failure: FailureClass;
  readonly status: number | null;
  readonly detail: string;
  readonly retryAfterMs: number | null;

  constructor({ failure, status, detail, retryAfterMs = null, ...options }: FailureReport) {
    super(`${failure}${status === null ? '' : ` (HTTP ${status})`}: ${detail}`, options);
    this.failure = failure;
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Why a key is paused, and until when, as `etl.budget` has it. */
export interface Pause {
  readonly pause_class: string | null;
  readonly pause_reason: string | null;
  readonly wait_ms: number;
  readonly until: string;
}

/**
 * No request of the key may leave for longer than a worker waits. Not a failure of any request:
 * most who meet it have sent none. Holds no secret.
 */
export class KeyPausedError extends Error {
  override readonly name = 'KeyPausedError';
  readonly failure: FailureClass;
  /** Short, redacted, one line. */
  readonly detail: string;
  /** How long from now, in ms. */
  readonly retryAfterMs: number;

  constructor({ pause_class, pause_reason, wait_ms, until }: Pause) {
    // Another version of the program may have written a class that this one lacks.
    const failure = pause_class !== null && isClass(pause_class) ? pause_class : 'throttled';
    const detail = `${pause_reason ?? 'the key is paused'}; no request before ${until}`;
    super(`${failure}: ${detail}`);
    this.failure = failure;
    this.detail = detail;
    this.retryAfterMs = wait_ms;
  }
}

const isClass = (name: string): name is FailureClass => Object.hasOwn(failures, name);
