import type { IncomingHttpHeaders } from 'node:http';

/** The service's rate headers as numbers; null where absent, unreadable or -1 (unknown). */
export interface RateHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Time until the limit's window ends, in ms. */
  readonly resetMs: number | null;
  readonly creditsRemaining: number | null;
}

/** Longest wait that is believed: credits reset daily, nothing asks for more than a day. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** Reads `x-ratelimit-*` and `x-credits-remaining` of an answer; each may be absent, and -1 means unknown. */
export function rateHeaders(headers: IncomingHttpHeaders): RateHeaders {
  return {
    limit: count(headers['x-ratelimit-limit']),
    remaining: count(headers['x-ratelimit-remaining']),
    resetMs: count(headers['x-ratelimit-reset']),
    creditsRemaining: count(headers['x-credits-remaining']),
  };
}

/**
 * How long an answer asks to wait, in ms: Retry-After in seconds or as an HTTP date (RFC 9110,
 * 10.2.3), and for a 429 without one x-ratelimit-reset, which is in ms. Null when it does not
 * say; never more than a day. A date is taken relative to the answer's own Date, so that a
 * wrong clock on our side does no harm; `wallMs` (Unix time) stands in where that is absent.
 */
export function retryAfterMs(
  status: number,
  headers: IncomingHttpHeaders,
  wallMs: number,
): number | null {
  const asked = headers['retry-after']?.trim();
  const seconds = count(asked);
  if (seconds !== null) return Math.min(seconds * 1000, longestWaitMs);
  const date = asked === undefined ? Number.NaN : Date.parse(asked);
  if (/^[a-z]/iu.test(asked ?? '') && !Number.isNaN(date)) {
    const sent = Date.parse(headers.date ?? '');
    const waitMs = date - (Number.isNaN(sent) ? wallMs : sent);
    return Math.min(Math.max(waitMs, 0), longestWaitMs);
  }
  const resetMs = status === 429 ? rateHeaders(headers).resetMs : null;
  return resetMs === null ? null : Math.min(resetMs, longestWaitMs);
}

/** A number of digits only (a fraction allowed), so that -1, '' and words are null. */
function count(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,15}(?:\.\d+)?$/u.test(text.trim()) ? Number(text) : null;
}
