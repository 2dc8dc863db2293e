import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Fault, FaultRequest, Faults, Serve } from './faults.ts';
import { Limiter, type Limits } from './limit.ts';
import { answerRoute, batchOf, findRoute, operations } from './lists.ts';
import type { ListForm, OperationName, Route } from './lists.ts';
import { refuse, type Answer } from './pages.ts';
import { drawsOf } from './random.ts';
import { createWorld, type SimulatedChain } from './world.ts';

export { alterPage, faultNames, faultsAtRates, statusFaults } from './faults.ts';
export type {
  Fault,
  FaultRate,
  FaultRequest,
  Faults,
  Item,
  Page,
  PageFault,
  StatusFault,
} from './faults.ts';
export type { Limits } from './limit.ts';
export type { ListForm, OperationName } from './lists.ts';
export type { Motion } from './motion.ts';
export { startInstantMs } from './world.ts';
export type { Family, Generation, Oddity, SimulatedChain, StatedItem } from './world.ts';

/** How the simulated explorer answers, and to whom. */
export interface SimulatorOptions {
  /** The same seed gives the same chains, byte for byte. */
  readonly seed: number;
  readonly chains: readonly SimulatedChain[];
  /** Lists beside those of the service, by name; a chain has them if it states them. */
  readonly moreLists?: Readonly<Record<string, ListForm>>;
  /** The website of each chain, by its number, in the directory that needs no key; those of `chains` if absent. */
  readonly directory?: Readonly<Record<string, unknown>>;
  /** The key, or one of the keys, that requests must carry; `simulated-key` if absent. */
  readonly apiKey?: string | readonly string[];
  /** The `key` that shows labels and watchlist names; without it they are hidden. */
  readonly secretKey?: string;
  /** How long every answer waits, milliseconds. */
  readonly latencyMs?: number;
  /** 0, the default, takes a free one. */
  readonly port?: number;
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

/** A request as the service saw it, and what it answered. */
interface SeenRequest
  extends Pick<FaultRequest, 'chainId' | 'operation' | 'url'>, Omit<Answer, 'body'> {}

/** A running simulated explorer. */
export type Simulator = Awaited<ReturnType<typeof startSimulator>>;

/** Starts a simulated explorer; rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions, port = options.port ?? 0) {
  const { onRequest, hold } = options;
  const limiter = new Limiter();
  const closing = new AbortController();
  const { signal } = closing;
  const judge = createService(options, limiter);
  const names = [...Object.keys(operations), 'unknown'];
  const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  const countRequests = () => Object.values(counts).reduce((sum, count) => sum + count);
  const sites = options.chains.map(({ id, name }) => [id, `https://${name}.example`]);
  const { directory = Object.fromEntries(sites) } = options;
  const server = createServer((request, response) => {
    // The gateway's own answer, which is no request of a key.
    if (request.url === '/api/json/config') {
      response.setHeader('content-type', 'application/json');
      return void response.end(
        JSON.stringify({ chains: directory, endpoint_pricing: { default: 20 } }),
      );
    }
    const number = countRequests();
    const { seen, fault, ...judged } = judge(request, number);
    counts[seen.operation] = (counts[seen.operation] ?? 0) + 1;
    onRequest?.(seen);
    const held = hold?.(seen);
    const { latencyMs = 0 } = options;
    const send = async () => {
      await held;
      const body = bytesOf(judged.answer.body);
      if (fault !== null && 'wire' in fault) return fault.wire({ response, body, number, signal });
      const isZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      const sent = isZipped && body.length > gzipFromBytes ? await compress(body, fast) : body;
      if (latencyMs > 0) await delay(latencyMs, undefined, { signal });
      const type = typeof judged.answer.body === 'string' ? 'text/html' : 'application/json';
      response.writeHead(judged.answer.status, {
        'content-type': `${type}; charset=utf-8`,
        'content-length': sent.length,
        ...(sent === body ? {} : { 'content-encoding': 'gzip' }),
        ...judged.headers,
      });
      return response.end(sent);
    };
    send().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    /** The base URL, without a slash at its end. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many requests it has received, by operation. */
    counts: counts as Readonly<Record<OperationName | 'unknown', number>>,
    get requests() {
      return countRequests();
    },
    /** The most requests that came within one second, refused ones too. */
    get busiestSecond() {
      return limiter.busiestSecond;
    },
    /** Stops listening, cuts what is under way, and resolves when the port is free. */
    async close() {
      if (!server.listening) return;
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A smaller body is not worth a compressor's set-up, bytes. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);
const fast = { level: constants.Z_BEST_SPEED };

/** A body as bytes: text and bytes as they are, anything else as JSON. */
function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** performance.now counts fractions of a ms from a start that does not jump. */
const unixNow = () => performance.timeOrigin + performance.now();

const refusals = {
  'let-in': null,
  throttled: refuse(429, { message: 'Too many requests.' }),
  'out-of-credits': refuse(402, { error: 'Out of credits' }),
};

/** Decides on each request: the limits first, then its fault, then the service itself. */
function createService(options: SimulatorOptions, limiter: Limiter) {
  const { seed, chains, apiKey: accepted = 'simulated-key', secretKey, clock = () => 0 } = options;
  const { limits, faults, moreLists, now: readNow = unixNow } = options;
  const worlds = new Map(chains.map((chain) => [chain.id, createWorld(seed, chain)]));
  const apiKeys = new Set([accepted].flat());
  const draw = drawsOf(seed);
  /** The true answer: the key first, as a gateway does, then the chain, then the query. */
  const answer = (route: Route | null, query: URLSearchParams): Answer => {
    if (route === null) return refuse(404, { message: 'Not found' });
    const apiKey = query.get('apikey');
    if (!apiKey) {
      const error = 'Proceed with API key or make a X402 payment to continue';
      return refuse(402, { error });
    }
    if (!apiKeys.has(apiKey)) return refuse(401, { error: 'Unauthorized' });
    const world = worlds.get(route.chainId);
    if (!world) return refuse(404, { error: 'Network not supported', source: 'internal' });
    if (world.chain.family === 'plain') {
      return route.operation.startsWith('optimism-')
        ? refuse(400, { message: 'Unknown API v2 action' })
        : refuse(501, { error: 'Not implemented', source: 'upstream' });
    }
    const withSecretKey = secretKey !== undefined && query.get('key') === secretKey;
    return answerRoute(route, { world, query, atMs: clock(), withSecretKey });
  };
  return (request: IncomingMessage, number: number) => {
    const url = new URL(`http://simulator${request.url ?? '/'}`);
    const route = request.method === 'GET' ? findRoute(url.pathname, moreLists) : null;
    const { chainId = 0, operation = 'unknown' } = route ?? {};
    const cursorName = route?.list.paging.cursor ?? 'page_token';
    const cursor = url.searchParams.get(cursorName);
    const place = { batch: route && batchOf(route), cursor, cursorName };
    const now = readNow();
    const { verdict, headers } = limiter.admit(now, limits?.() ?? {});
    const random = draw('fault', number);
    const requested = { chainId, operation, url, ...place, number, now };
    // None either if the limits refused the request before anything could go wrong with it.
    const fault = (verdict === 'let-in' && faults?.(requested, () => random.part())) || null;
    // Faults serve other lists too.
    const serve = (at: URL) => answer(route && findRoute(at.pathname, moreLists), at.searchParams);
    const answered = refusals[verdict] ?? answerWith(fault, url, serve);
    const own = fault !== null && 'headers' in fault ? fault.headers : {};
    const seen = { chainId, operation, url, status: answered.status, items: answered.items };
    return { seen, answer: answered, headers: { ...headers, ...own }, fault };
  };
}

/** The one place that applies a fault to an answer, but for what happens on the wire. */
function answerWith(fault: Fault | null, url: URL, serve: Serve): Answer {
  if (fault === null || 'wire' in fault) return serve(url);
  return 'page' in fault ? fault.page(url, serve) : refuse(fault.status, fault.body);
}
