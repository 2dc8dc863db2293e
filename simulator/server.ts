import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Fault, Faults } from './fault.ts';
import { Limiter, type Limits } from './limit.ts';
import { refuse, type Answer } from './pages.ts';
import { drawsOf } from './random.ts';
import { answerRoute, findRoute, operations, type OperationName } from './route.ts';
import { createWorld, type SimulatedChain } from './world.ts';

/** How the simulated explorer answers, and to whom. */
export interface SimulatorOptions {
  /** The same seed gives the same chains, byte for byte. */
  readonly seed: number;
  readonly chains: readonly SimulatedChain[];
  /** The key, or one of the keys, that requests must carry; `simulated-key` if absent. */
  readonly apiKey?: string | readonly string[];
  /** The `key` that shows labels and watchlist names; without it they are hidden. */
  readonly secretKey?: string;
  /** How long every answer waits, milliseconds. */
  readonly latencyMs?: number;
  /** `127.0.0.1` if absent. */
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Whether to compress for clients that accept it; true if absent. */
  readonly gzip?: boolean;
  /** Simulated milliseconds since the start, read once a request; always 0 if absent. */
  readonly clock?: () => number;
  /** What the key may do, read at each request; without it all is let in. */
  readonly limits?: () => Limits;
  /** Unix time in ms, for the limits and faults; the machine's clock if absent. */
  readonly now?: () => number;
  /** What goes wrong, and when; nothing does if absent. Comes after the limits. */
  readonly faults?: Faults;
  /** Called with every request before it is answered; the URL holds the keys as sent. */
  readonly onRequest?: (seen: SeenRequest) => void;
  /** What an answer waits for beside its latency; null, or absent: nothing. */
  readonly hold?: (seen: SeenRequest) => Promise<void> | null;
}

/** A request as the service saw it. */
export interface SeenRequest {
  /** 0 if the path has none. */
  readonly chainId: number;
  readonly operation: OperationName | 'unknown';
  readonly url: URL;
  readonly status: number;
  /** How many items the answer holds. */
  readonly items: number;
}

type RequestCounts = Record<OperationName | 'unknown', number>;

/** A running simulated explorer. */
export interface Simulator {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** How many requests it has received. */
  readonly requests: number;
  /** How many of them came since the last reset, by operation. */
  readonly counts: Readonly<RequestCounts>;
  /** The most requests that came within one second since the last reset, refused ones too. */
  readonly busiestSecond: number;
  resetCounts(): void;
  /** Stops listening, cuts what is under way, and resolves when the port is free. */
  close(): Promise<void>;
}

/** Starts a simulated explorer; rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { host = '127.0.0.1', onRequest, hold } = options;
  const limiter = new Limiter();
  const closing = new AbortController();
  const { signal } = closing;
  const judge = createJudge(options, limiter);
  let requests = 0;
  let counts = noCounts();
  const server = createServer((request, response) => {
    const number = requests;
    requests += 1;
    const { seen, answer, headers, fault } = judge(request, number);
    counts[seen.operation] += 1;
    onRequest?.(seen);
    const held = hold?.(seen) ?? null;
    const send = async () => {
      await held;
      if (fault !== null && 'wire' in fault) {
        await fault.wire({ response, body: bytesOf(answer.body), number, signal });
      } else await sendAnswer(request, response, { answer, headers, options, signal });
    };
    send().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get requests() {
      return requests;
    },
    get counts() {
      return { ...counts };
    },
    get busiestSecond() {
      return limiter.busiestSecond;
    },
    resetCounts() {
      counts = noCounts();
      limiter.reset();
    },
    async close() {
      if (!server.listening) return;
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const noCounts = () =>
  Object.fromEntries([...operations, 'unknown'].map((name) => [name, 0])) as RequestCounts;

/** performance.now counts fractions of a ms from a start that does not jump. */
const unixNow = () => performance.timeOrigin + performance.now();

type Headers = Readonly<Record<string, string | number>>;

interface Judgement {
  readonly seen: SeenRequest;
  readonly answer: Answer;
  readonly headers: Headers;
  /** Null if the limits refused the request before anything could go wrong with it. */
  readonly fault: Fault | null;
}

/** Decides on each request: the limits first, then its fault, then the service itself. */
function createJudge(
  options: SimulatorOptions,
  limiter: Limiter,
): (request: IncomingMessage, number: number) => Judgement {
  const { seed, chains, apiKey = 'simulated-key', secretKey, clock = () => 0 } = options;
  const { limits, now: readNow = unixNow, faults } = options;
  const worlds = new Map(chains.map((chain) => [chain.id, createWorld(seed, chain)]));
  const apiKeys = new Set(typeof apiKey === 'string' ? [apiKey] : apiKey);
  const service = { worlds, apiKeys, secretKey, clock };
  const draw = drawsOf(seed);
  return (request, number) => {
    const url = new URL(`http://simulator${request.url ?? '/'}`);
    const route = request.method === 'GET' ? findRoute(url.pathname) : null;
    const requested = {
      chainId: route?.chainId ?? 0,
      operation: route?.operation ?? ('unknown' as const),
      url,
    };
    const now = readNow();
    const { verdict, headers } = limiter.admit(now, limits?.() ?? {});
    const random = draw('fault', number);
    const fault =
      verdict === 'let-in'
        ? (faults?.({ ...requested, number, now }, () => random.part()) ?? null)
        : null;
    const serve = (at: URL) => answerRoute(service, route, at.searchParams);
    const answer = refusals[verdict] ?? answerWith(fault, url, serve);
    const own = fault !== null && 'headers' in fault ? fault.headers : {};
    return {
      seen: { ...requested, status: answer.status, items: answer.items },
      answer,
      headers: { ...headers, ...own },
      fault,
    };
  };
}

const refusals = {
  'let-in': null,
  throttled: refuse(429, { message: 'Too many requests.' }),
  'out-of-credits': refuse(402, { error: 'Out of credits' }),
};

/** The one place that applies a fault to an answer, but for what happens on the wire. */
function answerWith(fault: Fault | null, url: URL, serve: (at: URL) => Answer): Answer {
  if (fault === null || 'wire' in fault) return serve(url);
  return 'page' in fault ? fault.page({ url, serve }) : refuse(fault.status, fault.body);
}

/** A smaller body is not worth a compressor's set-up, bytes. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);

interface Sending {
  readonly answer: Answer;
  /** Beside those of the body. */
  readonly headers: Headers;
  readonly options: SimulatorOptions;
  readonly signal: AbortSignal;
}

/** A body as bytes: text and bytes as they are, anything else as JSON. */
function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends an answer after its latency: text as HTML, anything else as JSON. */
async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, headers, options, signal }: Sending,
): Promise<void> {
  const { latencyMs = 0, gzip: mayCompress = true } = options;
  const plain = bytesOf(answer.body);
  const accepts = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const isCompressed = mayCompress && accepts && plain.length > gzipFromBytes;
  const body = isCompressed ? await compress(plain, { level: constants.Z_BEST_SPEED }) : plain;
  if (latencyMs > 0) await delay(latencyMs, undefined, { signal });
  const type = typeof answer.body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(answer.status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': body.length,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    ...headers,
  });
  response.end(body);
}
