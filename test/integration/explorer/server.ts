import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Budget } from '../../../src/explorer/budget.ts';
import { createExplorerClient, type ExplorerClientOptions } from '../../../src/explorer/client.ts';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { createFetcher } from '../../../src/explorer/fetcher.ts';

export const canary = 'canary-api/key&ü';
export const secondCanary = 'canary secret+key';
export const page = JSON.stringify({ items: [{ hash: '0x1' }], next_page_params: null });

/** An HTTP server that lives as long as the test; counts what reaches it. */
export async function serve(listener: RequestListener) {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  let requests = 0;
  server.on('connection', (socket) => sockets.add(socket));
  server.on('request', () => (requests += 1));
  const baseUrl = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl, sockets, requests: () => requests };
}

/** A server of raw sockets; `onData` is called when one first sends something. */
export async function serveSocket(onData: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => onData(socket));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return await listen(server as Server);
}

/** A server that writes `answer` as raw bytes to each connection that sends something, and ends it. */
export const serveBytes = (answer: string | Buffer): Promise<string> =>
  serveSocket((socket) => socket.end(answer));

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const operationsRequest = {
  chainId: 10,
  path: 'proxy/account-abstraction/operations',
  query: { page_size: 50 },
  operation: 'user-operations',
  lane: 'live',
} as const;

/** A client that never really waits between attempts, and what it did. */
export function start(baseUrl: string, options: Partial<ExplorerClientOptions> = {}) {
  const waits: number[] = [];
  const slots: number[] = [];
  const reports: unknown[] = [];
  const givenBack: number[] = [];
  const client = createExplorerClient({
    baseUrl,
    apiKey: canary,
    secretKey: secondCanary,
    proxy: null,
    random: () => 0,
    now: () => performance.now(),
    sleep: async (ms, signal) => {
      waits.push(ms);
      await sleep(0, undefined, { signal });
    },
    ...options,
  });
  onTestFinished(() => client.close());
  const budget: Budget = {
    take: async () => ({ page_id: slots.push(slots.length + 1), at: '', tests: null }),
    report: async (reply) => {
      reports.push(reply);
      if (reply.error?.isSent === false) givenBack.push(reply.slot.page_id);
    },
  };
  const fetchPage = createFetcher({ client, budget, by: client });
  const get = (signal: AbortSignal = new AbortController().signal, request: object = {}) =>
    fetchPage({ ...operationsRequest, ...request }, signal);
  const fail = async (): Promise<ExplorerError> => {
    const error = await get().then(
      () => null,
      (failure: unknown) => failure,
    );
    if (error instanceof ExplorerError) return error;
    throw new Error(`expected an ExplorerError, got ${String(error)}`);
  };
  return { client, budget, get, fail, waits, slots, reports, givenBack };
}
