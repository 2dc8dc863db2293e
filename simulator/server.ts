import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fault, FaultRequest, Faults } from './fault.ts';
import { Limiter, type Admission, type Limits } from './limit.ts';
import { refuse, type Answer } from './pages.ts';
import { drawsOf } from './random.ts';
import { answerRoute, findRoute, type OperationName, type Route, type Service } from './route.ts';
import { sendAnswer, spellBody } from './send.ts';
import { createWorld, type SimulatedChain } from './world.ts';

/** How the simulated explorer answers, and to whom. */
export interface SimulatorOptions {
  /** The same seed gives the same chains, byte for byte. */
  readonly seed: number;
  readonly chains: readonly SimulatedChain[];
  /** The key, or one of the keys, that requests must carry; `simulated-key` if absent. */
  readonly apiKey?: string | readonly string[];
  /** The `key` that shows labels and watchlist names; without it nobody sees them. */
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
  /** Told of every request before it is answered; the URL holds the keys as sent. */
  readonly onRequest?: (seen: SeenRequest) => void;
  /** What an answer waits for beside its latency; null, or absent: nothing. */
  readonly hold?: (seen: SeenRequest) => Promise<void> | null;
}

/** A request as the service saw it. */
export interface SeenRequest {
  /** 0 where the path has none. */
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
  /** How many of them came since the last reset, by what they asked for. */
  readonly counts: Readonly<RequestCounts>;
  /** The most requests that came within one second since the last reset, refused ones too. */
  readonly busiestSecond: number;
  resetCounts(): void;
  /** Stops listening, cuts what is under way, and resolves when the port is free. */
  close(): Promise<void>;
}

/** Starts a simulated explorer; rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { seed, chains, apiKey = 'simulated-key', secretKey, host = '127.0.0.1' } = options;
  const { clock = () => 0 } = options;
  const worlds = new Map(chains.map((chain) => [chain.id, createWorld(seed, chain)]));
  const apiKeys = new Set(typeof apiKey === 'string' ? [apiKey] : apiKey);
  const service: Service = { worlds, apiKeys, secretKey, clock };
  const limiter = new Limiter();
  const closing = new AbortController();
  let requests = 0;
  let counts = noCounts();
  const server = createServer((request, response) => {
    requests += 1;
    const number = requests - 1;
    let held: Promise<void> | null = null;
    const { answer, headers, fault } = answerRequest(request, {
      options,
      service,
      limiter,
      number,
      tell: (seen) => {
        counts[seen.operation] += 1;
        options.onRequest?.(seen);
        held = options.hold?.(seen) ?? null;
      },
    });
    const { latencyMs = 0, gzip = true } = options;
    const { signal } = closing;
    const send = async () => {
      await held;
      await (fault !== null && 'wire' in fault
        ? fault.wire({ response, body: spellBody(answer.body), number, signal })
        : sendAnswer(request, response, answer, { headers, latencyMs, gzip, signal }));
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
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

function noCounts(): RequestCounts {
  return {
    'optimism-batch-blocks': 0,
    'optimism-batches': 0,
    'user-operations': 0,
    factories: 0,
    unknown: 0,
  };
}

interface Answering {
  readonly options: SimulatorOptions;
  readonly service: Service;
  readonly limiter: Limiter;
  /** How many requests came before. */
  readonly number: number;
  readonly tell: (seen: SeenRequest) => void;
}

type Asked = Pick<SeenRequest, 'chainId' | 'operation' | 'url'>;

interface Answered {
  readonly answer: Answer;
  readonly headers: Readonly<Record<string, string | number>>;
  /** Null where the limits refused the request before anything could go wrong with it. */
  readonly fault: Fault | null;
}

function answerRequest(
  request: IncomingMessage,
  { options, service, limiter, number, tell }: Answering,
): Answered {
  const url = new URL(`http://simulator${request.url ?? '/'}`);
  const route = request.method === 'GET' ? findRoute(url.pathname) : null;
  const now = (options.now ?? unixNow)();
  const admission = limiter.admit(now, options.limits?.() ?? {});
  const asked: Asked = {
    chainId: route?.chainId ?? 0,
    operation: route?.operation ?? 'unknown',
    url,
  };
  const isLetIn = admission.verdict === 'let-in';
  const fault = isLetIn ? faultOf({ ...asked, number, now }, options) : null;
  const answer = answerOf(service, admission, fault, { route, url });
  tell({ ...asked, status: answer.status, items: answer.items });
  const own = fault !== null && 'headers' in fault ? fault.headers : {};
  return { answer, headers: { ...admission.headers, ...own }, fault };
}

/** performance.now counts fractions of a ms from a start that does not jump. */
const unixNow = () => performance.timeOrigin + performance.now();

function faultOf(request: FaultRequest, { faults, seed }: SimulatorOptions): Fault | null {
  if (faults === undefined) return null;
  const random = drawsOf(seed)('fault', request.number);
  return faults(request, () => random.part());
}

function answerOf(
  service: Service,
  { verdict }: Admission,
  fault: Fault | null,
  { route, url }: { readonly route: Route | null; readonly url: URL },
): Answer {
  if (verdict === 'throttled') return refuse(429, { message: 'Too many requests.' });
  if (verdict === 'out-of-credits') return refuse(402, { error: 'Out of credits' });
  if (fault !== null && 'status' in fault) return refuse(fault.status, fault.body);
  const serve = (at: URL) => answerRoute(service, route, at.searchParams);
  return fault !== null && 'page' in fault ? fault.page({ url, serve }) : serve(url);
}
