import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  startSimulator,
  type SimulatedChain,
  type SimulatorOptions,
} from '../../simulator/index.ts';
import { testKey } from './sync.ts';

type Json = Record<string, unknown>;

/** A page as the simulated explorer serves it, to be changed in place or replaced. */
export interface ServedPage {
  items: Json[];
  next_page_params: Json | null;
}

export interface AlteredExplorer {
  readonly url: string;
  /** Requests so far. */
  readonly requests: number;
  /** What becomes of each page of an operation from now on; the URL's path tells which it is. */
  alter: (page: ServedPage, path: string, url: URL) => unknown;
}

/** A simulated explorer whose answers go through a function of the test. */
export async function alterExplorer(
  seed: number,
  chain: SimulatedChain,
  options: Partial<SimulatorOptions> = {},
): Promise<AlteredExplorer> {
  const simulator = await startSimulator({ seed, chains: [chain], apiKey: testKey, ...options });
  const altered = { url: '', requests: 0, alter: (page: ServedPage): unknown => page };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    altered.requests += 1;
    const url = new URL(request.url ?? '/', simulator.url);
    const served = await fetch(url);
    const text = await served.text();
    response.statusCode = served.status;
    response.setHeader('content-type', 'application/json');
    const alter: AlteredExplorer['alter'] = altered.alter;
    const body = served.ok
      ? JSON.stringify(alter(JSON.parse(text) as ServedPage, url.pathname, url))
      : text;
    response.end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  altered.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await simulator.close();
  });
  return altered;
}
