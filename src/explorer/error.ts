import type { FailureClass } from '../failure.ts';

/** What is known of a failed request. Every text in it must be redacted already. */
export interface FailureReport {
  readonly failure: FailureClass;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** Short, redacted, one line. */
  readonly detail: string;
  /** How long the service asked to wait, in ms; null when it did not say. */
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
