import { Agent } from 'undici';
import { type FailureClass, failures } from '../failure.ts';
import { createRedactor } from '../redact.ts';
import { ExplorerError } from './error.ts';
import { exchange, type Exchange, type ExchangeOptions } from './exchange.ts';
import {
  classify,
  describe,
  excerpt,
  largestBodyBytes,
  rateHeaders,
  type RateHeaders,
  retryAfterMs,
} from './response.ts';

/** Time limits of one attempt, in ms. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  /** Between two chunks of the body. */
  readonly bodyMs: number;
  readonly totalMs: number;
  /** Wait before a re-check, so that a momentary error has passed. */
  readonly recheckMs: number;
}

/** Generous for the slowest call: factories is one aggregation over all operations. A page has some 10 KB compressed. */
const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  totalMs: 60_000,
  recheckMs: 250,
};

export interface Answer<Admission, Page> {
  readonly page: Page;
  /** On the wire. */
  readonly bytes: number;
  /** Requests sent, the successful one included. */
  readonly attempts: number;
  /** Of the successful attempt, from sending to the last byte, in ms. */
  readonly latencyMs: number;
  /** The successful attempt's result of `admit`. */
  readonly admission: Admission;
}

/** How a request is admitted and reported, and how its page is read. */
export interface Call<Admission, Page> {
  readonly admit: (signal: AbortSignal) => Promise<Admission>;
  /** Called with each answer, refusals included, before the page is read. */
  readonly report?: (reply: Reported<Admission>) => Promise<void>;
  /**
   * Makes a page of a decompressed body. An ExplorerError fails this attempt only: a cut body may look like a page,
   * and is whole when requested again.
   */
  readonly read: (body: Buffer) => Page;
  /** A re-check of an earlier answer: it waits, and uses a connection of its own. */
  readonly isRecheck?: boolean;
  /** Called for each attempt that was not aborted. */
  readonly onAttempt?: (attempt: Attempt) => void;
  readonly signal: AbortSignal;
}

export interface Attempt {
  readonly outcome: 'ok' | FailureClass;
  readonly ms: number;
}

/** What an answer says of the limits. */
export interface Reported<Admission> {
  readonly admission: Admission;
  /** Null for a page. */
  readonly error: ExplorerError | null;
  readonly limits: RateHeaders;
  /** The service's clock, Unix time in ms, to the second; null: absent. */
  readonly serviceMs: number | null;
}

export interface ExplorerClient {
  /**
   * Gets one page, with retries. Awaits `admit` before every attempt and `report` after every answer. Throws
   * ExplorerError, what `admit`, `report` and `read` throw, or the signal's reason.
   */
  get<Admission, Page>(
    request: ExplorerRequest,
    call: Call<Admission, Page>,
  ): Promise<Answer<Admission, Page>>;
  /** Closes the connections after the requests under way. */
  close(): Promise<void>;
}

export interface ExplorerClientOptions {
  /** Such as `https://api.blockscout.com`; a path is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly secretKey?: string;
  readonly timeouts?: Partial<Timeouts>;
  /** Shared connections, which `close` leaves open; own ones if absent. */
  readonly connections?: Agent;
  /** On the wire and decompressed. */
  readonly maxBodyBytes?: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Failures per request; throttled answers may be twice as many. */
  readonly maxAttempts?: number;
}

/** A client of the explorer's API over kept-alive HTTP/1.1 connections. */
export function createExplorerClient(options: ExplorerClientOptions): ExplorerClient {
  const { secretKey, random, sleep, now, maxAttempts = defaultMaxAttempts } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const maxBodyBytes = options.maxBodyBytes ?? largestBodyBytes;
  const redact = createRedactor([options.apiKey, secretKey ?? '']);
  const dispatcher = options.connections ?? openConnections(timeouts, maxBodyBytes);
  const { totalMs } = timeouts;
  const exchanging = { dispatcher, totalMs, maxBodyBytes, redact };
  return {
    async get(request, { admit, report, read, isRecheck = false, onAttempt, signal }) {
      const url = requestUrl(request, options);
      if (isRecheck && timeouts.recheckMs > 0) await sleep(timeouts.recheckMs, signal);
      const attempt = async (attempts: number) => {
        const admission = await admit(signal);
        const startMs = now();
        // Stays null if the attempt was aborted.
        let ended: Attempt | null = null;
        try {
          const answer = await (isRecheck
            ? exchangeAlone(url, { ...exchanging, signal }, timeouts)
            : exchange(url, { ...exchanging, signal }));
          const latencyMs = now() - startMs;
          const error = refusalOf(answer, url, redact);
          ended = { outcome: error?.failure ?? 'ok', ms: latencyMs };
          const { body, bytes, headers } = answer;
          const limits = rateHeaders(headers);
          await report?.({ admission, error, limits, serviceMs: serviceTime(headers.date) });
          if (error !== null) throw error;
          return { page: read(body), bytes, attempts, latencyMs, admission };
        } catch (error) {
          const ms = ended?.ms ?? now() - startMs;
          if (error instanceof ExplorerError) ended = { outcome: error.failure, ms };
          throw error;
        } finally {
          if (ended !== null) onAttempt?.(ended);
        }
      };
      return await retry(attempt, { maxAttempts, random, sleep, signal });
    },
    close: async () => {
      if (options.connections === undefined) await dispatcher.close();
    },
  };
}

/** A new connection may reach another server, whose copy of the list may be right. */
async function exchangeAlone(
  url: URL,
  options: ExchangeOptions,
  timeouts: Timeouts,
): Promise<Exchange> {
  const dispatcher = openConnections(timeouts, options.maxBodyBytes);
  try {
    return await exchange(url, { ...options, dispatcher });
  } finally {
    await dispatcher.destroy();
  }
}

/** Connections that clients share. `close` waits for the requests under way. */
export function openConnections(
  given: Partial<Timeouts> = {},
  maxBodyBytes: number = largestBodyBytes,
): Agent {
  const timeouts = { ...defaultTimeouts, ...given };
  return new Agent({
    // Requests are few and paced; HTTP/2 would only add ways to fail.
    allowH2: false,
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: maxBodyBytes,
  });
}

function refusalOf(
  answer: Exchange,
  url: URL,
  redact: (text: string) => string,
): ExplorerError | null {
  const { status, headers, body } = answer;
  const failure = classify(status, body);
  if (failure === 'ok') return null;
  const location = headers.location?.toString();
  const detail =
    status >= 300 && status < 400 && location !== undefined
      ? `redirected to ${excerpt(targetHost(location, url), redact)}, not followed`
      : describe(body, redact);
  return new ExplorerError({
    failure,
    status,
    detail,
    retryAfterMs: retryAfterMs(status, headers, Date.now()),
  });
}

function serviceTime(date: string | undefined): number | null {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : ms;
}

const targetHost = (location: string, base: URL): string =>
  URL.parse(location, base.origin)?.host ?? 'an unreadable location';

export interface ExplorerRequest {
  readonly chainId: number;
  /** Below `/{chain}/api/v2/`, without a query. */
  readonly path: string;
  /** Declared parameters; the service answers others with 422. */
  readonly query: Readonly<Record<string, string | number>>;
}

/**
 * The URL of a request, secrets included: never log it or put it into an error. Credentials are set last, so that a
 * cursor that echoes `key` can neither replace nor add one.
 */
function requestUrl(
  request: ExplorerRequest,
  { baseUrl, apiKey, secretKey }: Pick<ExplorerClientOptions, 'baseUrl' | 'apiKey' | 'secretKey'>,
): URL {
  const base = baseUrl.replace(/\/+$/u, '');
  const url = new URL(`${base}/${request.chainId}/api/v2/${request.path}`);
  for (const [name, value] of Object.entries(request.query)) {
    url.searchParams.set(name, String(value));
  }
  url.searchParams.set('apikey', apiKey);
  url.searchParams.delete('key');
  if (secretKey !== undefined) url.searchParams.set('key', secretKey);
  return url;
}

/** A longer outage is left to the schedule. */
const defaultMaxAttempts = 4;

/** Factor for throttled answers: they are the service's pace, not a failure. */
const throttledFactor = 2;

/** First back-off, in ms: about one round trip to a far server. */
const shortestMs = 250;

/** Largest own back-off, in ms: a longer outage does not hold a worker. */
const longestMs = 8_000;

/** Longest stated wait that a request sits out, in ms: the budget handles longer ones. */
const longestImposedMs = 60_000;

interface RetryPolicy {
  readonly maxAttempts: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Repeats an attempt until it succeeds, its class rules out repeating, or the attempts are used up (`maxAttempts`
 * failures, twice as many throttled answers). Waits as long as the service states, at most a minute, else with full
 * jitter. Throws the last ExplorerError; any other error or the signal's reason at once.
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
      try {
        await policy.sleep(delayMs(error.retryAfterMs, used[counts], policy.random), policy.signal);
      } finally {
        // Whatever `sleep` throws, the caller gets the signal's reason.
        policy.signal.throwIfAborted();
      }
    }
  }
}

/**
 * The wait before the next attempt, in ms, with full jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). A stated wait is a lower bound: jitter
 * on top keeps workers apart.
 */
export function delayMs(statedMs: number | null, failed: number, random: () => number): number {
  const backoffMs = random() * Math.min(shortestMs * 2 ** (failed - 1), longestMs);
  if (statedMs === null) return Math.round(backoffMs);
  const imposedMs = Math.min(statedMs, longestImposedMs);
  return Math.round(Math.min(imposedMs + random() * shortestMs, longestImposedMs));
}
