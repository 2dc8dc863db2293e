import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Answer } from './answer.ts';
import { createWorld, type SimulatedChain } from './chain.ts';
import { answerRoute, findRoute, type OperationName, type Service } from './route.ts';

/** How the simulated explorer answers, and to whom. */
export interface SimulatorOptions {
  /** The same seed gives the same chains, byte for byte. */
  readonly seed: number;
  readonly chains: readonly SimulatedChain[];
  /** The key that requests must carry; `simulated-key` if absent. */
  readonly apiKey?: string;
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
  /** Told of every request before it is answered; the URL holds the keys as sent. */
  readonly onRequest?: (seen: SeenRequest) => void;
}

/** A request as the service saw it. */
interface SeenRequest {
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
  resetCounts(): void;
  /** Stops listening, cuts what is under way, and resolves when the port is free. */
  close(): Promise<void>;
}

/** A smaller body is not worth a compressor's set-up, bytes. */
const gzipFromBytes = 1024;
const compress = promisify(gzip);

/** What the service charges for a call of these operations. */
const creditsPerCall = 20;
/** Far above any use: nothing is enforced, so a client must not be slowed by what it reads. */
const plentiful = 1_000_000_000;

/** Starts a simulated explorer; rejects when the port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { seed, chains, apiKey = 'simulated-key', secretKey, host = '127.0.0.1' } = options;
  const { clock = () => 0 } = options;
  const worlds = new Map(chains.map((chain) => [chain.id, createWorld(seed, chain)]));
  const service: Service = { worlds, apiKey, secretKey, clock };
  const closing = new AbortController();
  let requests = 0;
  let counts = noCounts();
  const server = createServer((request, response) => {
    requests += 1;
    const answer = answerRequest(service, request, (seen) => {
      counts[seen.operation] += 1;
      options.onRequest?.(seen);
    });
    sendAnswer(request, response, answer, { options, requests, signal: closing.signal }).catch(() =>
      response.destroy(),
    );
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
    resetCounts() {
      counts = noCounts();
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
  return { 'optimism-batch-blocks': 0, 'user-operations': 0, factories: 0, unknown: 0 };
}

function answerRequest(
  service: Service,
  request: IncomingMessage,
  onRequest: (seen: SeenRequest) => void,
): Answer {
  const url = new URL(`http://simulator${request.url ?? '/'}`);
  const route = request.method === 'GET' ? findRoute(url.pathname) : null;
  const answer = answerRoute(service, route, url.searchParams);
  onRequest({
    chainId: route?.chainId ?? 0,
    operation: route?.operation ?? 'unknown',
    url,
    status: answer.status,
    items: answer.items,
  });
  return answer;
}

interface Sending {
  readonly options: SimulatorOptions;
  readonly requests: number;
  readonly signal: AbortSignal;
}

async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  { options, requests, signal }: Sending,
): Promise<void> {
  const plain = Buffer.from(JSON.stringify(answer.body));
  const isCompressed =
    options.gzip !== false &&
    plain.length > gzipFromBytes &&
    /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const body = isCompressed ? await compress(plain, { level: constants.Z_BEST_SPEED }) : plain;
  if (options.latencyMs !== undefined && options.latencyMs > 0) {
    await delay(options.latencyMs, undefined, { signal });
  }
  response.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    'x-ratelimit-limit': plentiful,
    'x-ratelimit-remaining': plentiful,
    'x-ratelimit-reset': 1000,
    'x-credits-remaining': plentiful - requests * creditsPerCall,
  });
  response.end(body);
}
