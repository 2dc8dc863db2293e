import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { listBatches } from './batches.ts';
import { listBlocks } from './blocks.ts';
import { listFactories } from './factories.ts';
import type { Fault, Faults } from './faults.ts';
import { Limiter, type Limits } from './limit.ts';
import { answerCounted, answerRanked, refuse, type Answer } from './pages.ts';
import { drawsOf } from './random.ts';
import { listUserOperations } from './user-operations.ts';
import { createWorld, type SimulatedChain, type World } from './world.ts';

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

/** A running simulated explorer. */
export interface Simulator {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  /** How many requests it has received. */
  readonly requests: number;
  /** How many of them came since the last reset, by operation. */
  readonly counts: Readonly<Record<OperationName | 'unknown', number>>;
  /** The most requests that came within one second since the last reset, refused ones too. */
  readonly busiestSecond: number;
  resetCounts(): void;
  /** Stops listening, cuts what is under way, and resolves when the port is free. */
  close(): Promise<void>;
}

/** The lists of the service, and where they are. */
const paths = {
  'optimism-batch-blocks': /^blocks\/optimism-batch\/([^/]+)$/,
  'optimism-batches': /^optimism\/batches$/,
  'user-operations': /^proxy\/account-abstraction\/operations$/,
  factories: /^proxy\/account-abstraction\/factories$/,
};

export type OperationName = keyof typeof paths;

/** Starts a simulated explorer; rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { onRequest, hold, port = 0 } = options;
  const limiter = new Limiter();
  const closing = new AbortController();
  const { signal } = closing;
  const judge = createJudge(options, limiter);
  let requests = 0;
  let counts = noCounts();
  const server = createServer((request, response) => {
    const number = requests;
    requests += 1;
    const judgement = judge(request, number);
    const { seen, answer, fault } = judgement;
    counts[seen.operation] += 1;
    onRequest?.(seen);
    const held = hold?.(seen) ?? null;
    const send = async () => {
      await held;
      const body = bytesOf(answer.body);
      if (fault !== null && 'wire' in fault) await fault.wire({ response, body, number, signal });
      else await sendAnswer(request, response, judgement, { latencyMs: options.latencyMs, signal });
    };
    send().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
  Object.fromEntries([...Object.keys(paths), 'unknown'].map((name) => [name, 0])) as Record<
    OperationName | 'unknown',
    number
  >;

/** A smaller body is not worth a compressor's set-up, bytes. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);

/** A body as bytes: text and bytes as they are, anything else as JSON. */
function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends an answer after its latency: text as HTML, anything else as JSON. */
async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, headers }: ReturnType<ReturnType<typeof createJudge>>,
  { latencyMs = 0, signal }: { latencyMs: number | undefined; signal: AbortSignal },
): Promise<void> {
  const plain = bytesOf(answer.body);
  const accepts = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const isCompressed = accepts && plain.length > gzipFromBytes;
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

/** performance.now counts fractions of a ms from a start that does not jump. */
const unixNow = () => performance.timeOrigin + performance.now();

/** Decides on each request: the limits first, then its fault, then the service itself. */
function createJudge(options: SimulatorOptions, limiter: Limiter) {
  const { seed, limits, now: readNow = unixNow, faults } = options;
  const answerRoute = createService(options);
  const draw = drawsOf(seed);
  return (request: IncomingMessage, number: number) => {
    const url = new URL(`http://simulator${request.url ?? '/'}`);
    const route = request.method === 'GET' ? findRoute(url.pathname) : null;
    const { chainId = 0, operation = 'unknown' } = route ?? {};
    const now = readNow();
    const { verdict, headers } = limiter.admit(now, limits?.() ?? {});
    const random = draw('fault', number);
    // Null too if the limits refused the request before anything could go wrong with it.
    const fault =
      verdict === 'let-in'
        ? (faults?.({ chainId, operation, url, number, now }, () => random.part()) ?? null)
        : null;
    const answer =
      refusals[verdict] ?? answerWith(fault, url, (at) => answerRoute(route, at.searchParams));
    const own = fault !== null && 'headers' in fault ? fault.headers : {};
    const seen: SeenRequest = {
      chainId,
      operation,
      url,
      status: answer.status,
      items: answer.items,
    };
    return { seen, answer, headers: { ...headers, ...own }, fault };
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

/** Where a path leads. */
interface Route {
  readonly chainId: number;
  readonly operation: OperationName;
  /** The batch number as written; empty for the other lists. */
  readonly batch: string;
}

/** The route of a path, or null if the service has nothing there. */
function findRoute(path: string): Route | null {
  const [, chainId, rest = ''] = /^\/(\d{1,15})\/api\/v2\/(.+)$/.exec(path) ?? [];
  for (const operation of Object.keys(paths) as OperationName[]) {
    const match = paths[operation].exec(rest);
    if (match !== null) return { chainId: Number(chainId), operation, batch: match[1] ?? '' };
  }
  return null;
}

/** Answers requests: the key first, as a gateway does, then the chain, then the query. */
function createService(options: SimulatorOptions) {
  // Taken one by one: a caller's `latencyMs` may be a getter that is read with each answer only.
  const { seed, chains, apiKey: accepted = 'simulated-key', secretKey, clock = () => 0 } = options;
  const worlds = new Map(chains.map((chain) => [chain.id, createWorld(seed, chain)]));
  const apiKeys = new Set([accepted].flat());
  return (route: Route | null, query: URLSearchParams): Answer => {
    if (route === null) return refuse(404, { message: 'Not found' });
    const apiKey = query.get('apikey');
    if (!apiKey) {
      const error = 'Proceed with API key or make a X402 payment to continue';
      return refuse(402, { error });
    }
    if (!apiKeys.has(apiKey)) return refuse(401, { error: 'Unauthorized' });
    const world = worlds.get(route.chainId);
    if (!world) return refuse(404, { error: 'Network not supported', source: 'internal' });
    const withSecretKey = secretKey !== undefined && query.get('key') === secretKey;
    return answerList(world, route, query, clock(), withSecretKey);
  };
}

const badBatch = { name: 'batch_number_param', detail: 'Invalid integer' };

function answerList(
  world: World,
  { operation, batch }: Route,
  query: URLSearchParams,
  atMs: number,
  withSecretKey: boolean,
): Answer {
  if (world.chain.family === 'plain') {
    return operation.startsWith('optimism-')
      ? refuse(400, { message: 'Unknown API v2 action' })
      : refuse(501, { error: 'Not implemented', source: 'upstream' });
  }
  switch (operation) {
    case 'optimism-batch-blocks': {
      const problems = /^\d{1,15}$/.test(batch) ? [] : [badBatch];
      const list = listBlocks(world, Number(batch), atMs, withSecretKey);
      return answerCounted(world, query, list, problems);
    }
    case 'optimism-batches':
      return answerCounted(world, query, listBatches(world, atMs));
    case 'user-operations':
      return answerRanked(world, query, listUserOperations(world, atMs));
    case 'factories':
      return answerRanked(world, query, listFactories(world, atMs));
  }
}
