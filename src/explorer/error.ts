import { type FailureClass, failures } from '../failure.ts';
import { z } from 'zod';

type Facts = Pick<ExplorerError, 'failure' | 'status' | 'detail'>;
type RareFacts = Pick<ExplorerError, 'retryAfterMs' | 'isSent' | 'cause'>;

/** A failed request; see `failures[error.failure]`. Holds no URL, parameter or secret: all texts are redacted. */
export class ExplorerError extends Error {
  override readonly name = 'ExplorerError';
  readonly failure: FailureClass;
  /** Null: no answer came. */
  readonly status: number | null;
  /** One line. */
  readonly detail: string;
  /** The stated wait, in ms; null: none. */
  readonly retryAfterMs: number | null;
  /** False: there was no connection, so the request cost nothing. */
  readonly isSent: boolean;

  constructor(facts: Facts & Partial<RareFacts>) {
    const { failure, status, detail, retryAfterMs = null, isSent = true, ...options } = facts;
    super(`${failure}${status === null ? '' : ` (HTTP ${status})`}: ${detail}`, options);
    this.failure = failure;
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
    this.isSent = isSent;
  }

  /** The failure without its class. */
  get text(): string {
    return this.status === null ? this.detail : `HTTP ${this.status}, ${this.detail}`;
  }
}

/** A caught failure of a request as a value; throws any other error. */
export function failureIn(error: unknown): ExplorerError {
  if (error instanceof ExplorerError) return error;
  throw error;
}

export const pauseShape = () =>
  z.object({
    pause_class: z.string().nullable(),
    pause_reason: z.string().nullable(),
    wait_ms: z.number(),
    until: z.string(),
  });
type Pause = Readonly<z.infer<ReturnType<typeof pauseShape>>>;

/** The key is paused for longer than a worker waits. No request failed. */
export class KeyPausedError extends Error {
  override readonly name = 'KeyPausedError';
  readonly failure: FailureClass;
  /** One redacted line. */
  readonly detail: string;
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
