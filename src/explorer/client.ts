import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { failures, systemLabel } from '../failure.ts';
import { createRedactor } from '../redact.ts';
import { ExplorerError, failureIn } from './error.ts';
import {
  type Answer,
  createPageReader,
  decompress,
  excerpt,
  type Headers,
  largestBodyBytes,
  limitsOf,
  type Page,
  rateHeaders,
  type RateHeaders,
} from './response.ts';

/** Time limits of one attempt, in ms. */
export interface Timeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  /** Between two chunks of the body. */
  readonly bodyMs: number;
  readonly totalMs: number;
  /** Wait before a re-check. */
  readonly recheckMs: number;
}

/** Generous for the slowest call: factories is one aggregation over all operations. A page has some 10 KB compressed. */
export const defaultTimeouts: Timeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  totalMs: 60_000,
  recheckMs: 250,
};

/** What a request brought. */
export interface Reply {
  /** A page, or why there is none. */
  readonly result: Page | ExplorerError;
  readonly limits: RateHeaders;
  /** From sending to the last byte or the failure, in ms. */
  readonly latencyMs: number;
}

interface Sending {
  readonly signal: AbortSignal;
  /** A re-check of an earlier answer: it waits, and uses a connection of its own. */
  readonly isRecheck?: boolean;
}

export interface ExplorerClientOptions {
  /** Such as `https://api.blockscout.com`; a path is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly secretKey: string | null;
  readonly timeouts?: Partial<Timeouts>;
  readonly proxy: ProxyOptions | null;
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

export type ExplorerClient = ReturnType<typeof createExplorerClient>;

/** A client of the explorer's API over kept-alive HTTP/1.1 connections. */
export function createExplorerClient(options: ExplorerClientOptions) {
  const { random, sleep, now, maxAttempts = defaultMaxAttempts } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const { totalMs, recheckMs } = timeouts;
  const maxBodyBytes = options.maxBodyBytes ?? largestBodyBytes;
  const secrets = [options.apiKey, options.secretKey ?? ''];
  const redact = createRedactor(secrets);
  const pageOf = createPageReader(secrets, redact);
  const open = () => openConnections(timeouts, options.proxy, maxBodyBytes);
  const kept = open();
  return {
    /** Sends a GET once. Throws only the signal's reason. */
    async send(request: ExplorerRequest, { signal, isRecheck = false }: Sending): Promise<Reply> {
      const url = requestUrl(request, options);
      // A new connection may reach another server, whose copy of the list may be right.
      const dispatcher = isRecheck ? open() : kept;
      const startMs = now();
      try {
        const sending = { dispatcher, totalMs, maxBodyBytes, redact, signal };
        const answer = await exchange(url, sending).catch(failureIn);
        const latencyMs = now() - startMs;
        return answer instanceof ExplorerError
          ? { result: answer, limits: rateHeaders({}), latencyMs }
          : { result: pageOf(answer), limits: limitsOf(answer), latencyMs };
      } finally {
        if (isRecheck) await dispatcher.destroy();
      }
    },
    /** Makes attempts as `retry` does. A re-check waits before, so that a momentary error has passed. */
    async repeat<T>(attempt: () => Promise<T>, { signal, isRecheck = false }: Sending): Promise<T> {
      if (isRecheck && recheckMs > 0) await sleep(recheckMs, signal);
      return retry(attempt, { maxAttempts, random, sleep, signal });
    },
    /** Closes the connections after the requests under way. */
    close: (): Promise<void> => kept.close(),
  };
}

interface ExchangeOptions {
  readonly dispatcher: Dispatcher;
  /** For the whole answer, in ms. */
  readonly totalMs: number;
  /** In bytes, on the wire and again decompressed. */
  readonly maxBodyBytes: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

const requestHeaders = {
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
  'user-agent': 'explorer-etl',
};

/**
 * One GET; reads the body to its end, so that the connection can be reused. Redirects are ordinary answers. Throws the
 * signal's reason, or ExplorerError 'unreachable' (no, late or damaged answer), 'envelope-invalid' (too large).
 *
 * It collects the chunks itself: undici's `request` makes a stream of them, which costs as much as all the rest of it.
 */
export async function exchange(url: URL, options: ExchangeOptions): Promise<Answer> {
  const { dispatcher, signal, totalMs, maxBodyBytes } = options;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const { origin, pathname, search } = url;
  const chunks: Buffer[] = [];
  let status = 0;
  let headers: Headers = {};
  let controller: Dispatcher.DispatchController | null = null;
  /** A request begins when it has a connection: through a proxy, and after the TLS handshake. */
  let isSent = false;
  let endedBy: Error | null = null;
  const end = (reason: Error): void => {
    endedBy = reason;
    reject(reason);
    // A request that waits for a connection has no controller yet, and is aborted when it gets one.
    controller?.abort(reason);
  };
  // AbortSignal.any and AbortSignal.timeout stay in memory until their time has passed (2 KB).
  const abort = (): void => end(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  const detail = `no complete answer within ${totalMs} ms`;
  const late = () => new ExplorerError({ failure: 'unreachable', status: null, detail, isSent });
  const timer = setTimeout(() => end(late()), totalMs);
  try {
    dispatcher.dispatch(
      { origin, path: `${pathname}${search}`, method: 'GET', headers: requestHeaders },
      {
        onRequestStart(started) {
          controller = started;
          isSent = true;
          if (endedBy !== null) started.abort(endedBy);
        },
        onResponseStart(_controller, statusCode, received) {
          [status, headers] = [statusCode, received];
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve(),
        // A body over the limit ends here with undici's error: the dispatcher has `maxResponseSize`.
        onResponseError: (_controller, error) => reject(error),
      },
    );
    await promise;
    const raw = Buffer.concat(chunks);
    const body = decompress(raw, headers, maxBodyBytes);
    return { origin, status, headers, body, bytes: raw.length };
  } catch (error) {
    throw error === endedBy ? error : transportError(error, isSent, options);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Codes of undici and zlib for a body over the limit. */
const tooLarge = new Set<unknown>(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE']);

/** A transport's error may hold sockets, headers and the URL: the cause is a redacted copy. */
function transportError(
  error: unknown,
  isSent: boolean,
  { dispatcher, redact, maxBodyBytes }: ExchangeOptions,
): ExplorerError {
  const met: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  const { name, message, code } = met;
  const cause = Object.assign(new Error(redact(message)), { name, code });
  if (tooLarge.has(code)) {
    const detail = `the body exceeds ${maxBodyBytes} bytes`;
    return new ExplorerError({ failure: 'envelope-invalid', status: null, detail, cause });
  }
  const label = code === undefined ? null : systemLabel(code);
  // It may be the proxy that is meant: its agent does not say whose connection failed.
  const proxied =
    dispatcher instanceof EnvHttpProxyAgent ? '; HTTP_PROXY or HTTPS_PROXY is set' : '';
  const detail = `${excerpt(label ?? (message || name), redact)}${proxied}`;
  return new ExplorerError({ failure: 'unreachable', status: null, detail, isSent, cause });
}

/** URLs of proxies, empty if absent, and the hosts that need none. */
export type ProxyOptions = EnvHttpProxyAgent.Options;

/** Kept connections. `close` waits for the requests under way. */
export function openConnections(
  timeouts: Timeouts,
  proxy: ProxyOptions | null,
  maxBodyBytes: number,
): Dispatcher {
  const options = {
    // Requests are few and paced; HTTP/2 would only add ways to fail.
    allowH2: false,
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: maxBodyBytes,
  };
  if (proxy === null) return new Agent(options);
  // The agent of proxies gives a plain one no limits.
  const factory = (origin: string | URL, own: Pool.Options) =>
    new Pool(origin, { ...options, ...own });
  return new EnvHttpProxyAgent({ ...options, ...proxy, factory });
}

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
  if (secretKey !== null) url.searchParams.set('key', secretKey);
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

type RetryPolicy = Pick<Sending, 'signal'> &
  Required<Pick<ExplorerClientOptions, 'maxAttempts' | 'random' | 'sleep'>>;

/**
 * Repeats an attempt until it succeeds, its class rules out repeating, or the attempts are used up (`maxAttempts`
 * failures, twice as many throttled answers). Waits as long as the service states, at most a minute, else with full
 * jitter. Throws the last ExplorerError; any other error or the signal's reason at once.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  { maxAttempts, random, sleep, signal }: RetryPolicy,
): Promise<T> {
  const used = { 'as-failure': 0, 'as-wait': 0 };
  const limit = { 'as-failure': maxAttempts, 'as-wait': maxAttempts * throttledFactor };
  // Ends: each round returns, throws, or uses up one of the two limits.
  for (;;) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const { failure, retryAfterMs } = failureIn(error);
      const { retry: how } = failures[failure];
      if (how === 'none') throw error;
      used[how] += 1;
      if (used[how] >= limit[how]) throw error;
      const waitMs = delayMs(retryAfterMs, used[how], random);
      // Whatever `sleep` throws, the caller gets the signal's reason.
      await sleep(waitMs, signal).finally(() => signal.throwIfAborted());
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
