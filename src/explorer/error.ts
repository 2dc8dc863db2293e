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
  readonly failure: FailureClass;
  readonly status: number | null;
  readonly detail: string;
  readonly retryAfterMs: number | null;

  constructor(report: FailureReport) {
    const status = report.status === null ? '' : ` (HTTP ${report.status})`;
    super(
      `${report.failure}${status}: ${report.detail}`,
      report.cause === undefined ? {} : { cause: report.cause },
    );
    this.name = 'ExplorerError';
    this.failure = report.failure;
    this.status = report.status;
    this.detail = report.detail;
    this.retryAfterMs = report.retryAfterMs ?? null;
  }
}

/**
 * A new error with the name, code and redacted message of a foreign one. The foreign one itself
 * is never kept: a transport's errors hold sockets, headers and now and then the whole URL.
 */
export function cleanCause(error: unknown, redact: (text: string) => string): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const clean = new Error(redact(error.message));
  clean.name = error.name;
  const code = 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? Object.assign(clean, { code }) : clean;
}

/** Why a key is paused, and until when. */
export interface Pause {
  readonly pause_class: string | null;
  readonly pause_reason: string | null;
  readonly wait_ms: number;
  readonly until: string;
}

/** What is said of a pause without a reason. */
const unexplained = 'the key is paused';

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

  private constructor(failure: FailureClass, detail: string, retryAfterMs: number) {
    super(`${failure}: ${detail}`);
    this.failure = failure;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }

  /** The error that a pause in `etl.budget` amounts to. */
  static of({ pause_class, pause_reason, wait_ms, until }: Pause): KeyPausedError {
    // An older or newer version of the program may have written a class that this one lacks.
    const failure = pause_class !== null && isClass(pause_class) ? pause_class : 'throttled';
    const detail = `${pause_reason ?? unexplained}; no request before ${until}`;
    return new KeyPausedError(failure, detail, wait_ms);
  }
}

const isClass = (name: string): name is FailureClass => Object.hasOwn(failures, name);
