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

/** Time limits of one attempt, and rests, in ms. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  /** Between two chunks of the body. */
  readonly bodyMs: number;
  /** What a body may take whatever its size. */
  readonly bodyGraceMs: number;
  /** The slowest pace of a body beyond that, in bytes on the wire a second. */
  readonly slowestBytesPerSecond: number;
  readonly totalMs: number;
  /** Before a request is made once more whose answer was not believed: a moment's mistake has passed. */
  readonly recheckMs: number;
}

/**
 * Generous for the slowest call: factories is one aggregation over all operations. A page has some 10 KB
 * compressed, so a trickle ends after 15 seconds; 5 MB may take the two minutes of the whole.
 */
const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  bodyGraceMs: 15_000,
  slowestBytesPerSecond: 16 * 1024,
  totalMs: 120_000,
  recheckMs: 250,
};

/** A page as received, and what it took to get it. */
export interface Answer<Admission, Page> {
  /** What `read` made of the body. */
  readonly page: Page;
  readonly status: number;
  /** Body bytes on the wire. */
  readonly bytes: number;
  /** Requests sent, the successful one included. */
  readonly attempts: number;
  /** From sending to the last byte, of the successful attempt, in ms. */
  readonly latencyMs: number;
  /** What `admit` gave the successful attempt. */
  readonly admission: Admission;
  readonly limits: RateHeaders;
}

/** What a request waits for, what gets its answers, and how a page is read. */
export interface Call<Admission, Page> {
  readonly admit: (signal: AbortSignal) => Promise<Admission>;
  /** Called with each answer, refusals too, before the page is read. */
  readonly report?: (told: Reported<Admission>) => Promise<void>;
  /**
   * Makes a page of a body, decompressed. An ExplorerError that it throws is a failure of this attempt:
   * a body that was cut may still look like a page from its outside, and is whole when requested again.
   */
  readonly read: (body: Buffer) => Page;
  /** The request was answered before, and not believed: it rests, and gets a connection of its own. */
  readonly isRecheck?: boolean;
  /** Called with the outcome and duration of each attempt that was not cut off. */
  readonly onAttempt?: (attempt: Attempt) => void;
  readonly signal: AbortSignal;
}

/** One request that left. */
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
  /** What the service's clock showed, Unix time in ms, to the second; null: absent. */
  readonly serviceMs: number | null;
}

export interface ExplorerClient {
  /**
   * Gets one page, repeating what repeating can help. `admit` is awaited before every attempt, `report`
   * after every answer. Throws ExplorerError, what `admit`, `report` and `read` throw, or the signal's
   * reason when it aborts.
   */
  get<Admission, Page>(
    request: ExplorerRequest,
    call: Call<Admission, Page>,
  ): Promise<Answer<Admission, Page>>;
  /** Ends the connections, after the requests under way. */
  close(): Promise<void>;
}

export interface ExplorerClientOptions {
  /** Such as `https://api.blockscout.com`; a path is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The optional `key` parameter. */
  readonly secretKey?: string;
  readonly timeouts?: Partial<Timeouts>;
  /** The connections that clients share, which `close` leaves open; its own if absent. */
  readonly connections?: Agent;
  /** On the wire and decompressed. */
  readonly maxBodyBytes?: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Failures of one request; it may be throttled twice as often. */
  readonly maxAttempts?: number;
}

/** A client of the explorer's API over kept-alive HTTP/1.1 connections. */
export function createExplorerClient(options: ExplorerClientOptions): ExplorerClient {
  const { secretKey, random, sleep, now, maxAttempts = defaultMaxAttempts } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const maxBodyBytes = options.maxBodyBytes ?? largestBodyBytes;
  const redact = createRedactor([options.apiKey, secretKey ?? '']);
  const dispatcher = options.connections ?? openConnections(timeouts, maxBodyBytes);
  // The head of an answer on a new connection may take the time of both.
  const pace = { ...timeouts, headMs: timeouts.connectMs + timeouts.headersMs };
  const limits = { dispatcher, pace, now, maxBodyBytes, redact };
  return {
    async get(request, { admit, report, read, isRecheck = false, onAttempt, signal }) {
      const url = requestUrl(request, options);
      if (isRecheck && timeouts.recheckMs > 0) await sleep(timeouts.recheckMs, signal);
      const attempt = async (attempts: number) => {
        const admission = await admit(signal);
        const startMs = now();
        // Stays null where the attempt was cut off.
        let ended: Attempt | null = null;
        try {
          const answer = await (isRecheck
            ? exchangeAlone(url, { ...limits, signal }, timeouts)
            : exchange(url, { ...limits, signal }));
          const latencyMs = now() - startMs;
          const error = refusalOf(answer, url, redact);
          ended = { outcome: error?.failure ?? 'ok', ms: latencyMs };
          const { status, body, bytes, headers } = answer;
          const rate = rateHeaders(headers);
          await report?.({ admission, error, limits: rate, serviceMs: serviceTime(headers.date) });
          if (error !== null) throw error;
          const page = read(body);
          return { page, status, bytes, attempts, latencyMs, admission, limits: rate };
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

/** Another connection may lead to another server, whose copy of the list may be right. */
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

/** Connections that each client with these timeouts may use. `close` of them waits for the requests under way. */
export function openConnections(
  given: Partial<Timeouts> = {},
  maxBodyBytes: number = largestBodyBytes,
): Agent {
  const timeouts = { ...defaultTimeouts, ...given };
  return new Agent({
    // Our requests are few and paced; HTTP/2 would only add ways to fail.
    allowH2: false,
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: maxBodyBytes,
  });
}

/** The ExplorerError that an answer amounts to; null for a page. */
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

/** The `Date` of an answer. */
function serviceTime(date: string | undefined): number | null {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? null : ms;
}

const targetHost = (location: string, base: URL): string =>
  URL.parse(location, base.origin)?.host ?? 'an unreadable location';

/** A request of an operation, without credentials. */
export interface ExplorerRequest {
  readonly chainId: number;
  /** Below `/{chain}/api/v2/`, without a query. */
  readonly path: string;
  /** Parameters that the operation declares; the service answers others with 422. */
  readonly query: Readonly<Record<string, string | number>>;
}

/**
 * The URL of a request, secrets included: never to be logged or put into an error. Credentials
 * are set last, so that a cursor which echoes `key` can neither replace nor add one.
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

/** Attempts of one request that may fail; a longer outage is the schedule's to wait for. */
const defaultMaxAttempts = 4;

/** Times as many may be throttled: that is the service's pace, not its failure. */
const throttledFactor = 2;

/** First back-off, in ms: about one round trip to a far server. */
const shortestMs = 250;

/** Largest back-off of ours, in ms: a longer outage does not hold a worker. */
const longestMs = 8_000;

/** Longest wait that a service may impose on a request, in ms: longer ones are the budget's. */
const longestImposedMs = 60_000;

interface RetryPolicy {
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
export function delayMs(statedMs: number | null, failed: number, random: () => number): number {
  const backoffMs = random() * Math.min(shortestMs * 2 ** (failed - 1), longestMs);
  if (statedMs === null) return Math.round(backoffMs);
  const imposedMs = Math.min(statedMs, longestImposedMs);
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
