import { failures, type FailureClass } from '../failure.ts';

/** Why a key is paused, and until when. */
export interface Pause {
  readonly pause_class: string | null;
  readonly pause_reason: string | null;
  readonly wait_ms: number;
  readonly until: string;
}

/** What is said of a pause that nobody gave a reason for. */
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
