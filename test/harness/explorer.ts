import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  startSimulator,
  type SimulatedChain,
  type Simulator,
  type SimulatorOptions,
} from '../../simulator/index.ts';
import { freePort } from './ports.ts';

/** The key that simulated explorers accept unless they are given another. */
export const testKey = 'simulated-key';

/** A chain with nothing on it and nothing odd about it, which others are made from. */
export const plainChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 0,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
} as const satisfies SimulatedChain;

/** What a service says to one request. */
interface Answer {
  /** 200 if absent. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is if it is text, else as JSON. */
  readonly body: unknown;
}

/** A service on a port of its own. */
export interface Service {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts a service that answers each request with what a function says. */
export async function answering(answer: (url: URL) => Answer | Promise<Answer>): Promise<Service> {
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const {
      status = 200,
      headers = {},
      body,
    } = await answer(new URL(request.url ?? '/', 'http://localhost'));
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer((request, response) => void reply(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As `answering`, until the running test ends. */
export async function answered(...requested: Parameters<typeof answering>): Promise<string> {
  const service = await answering(...requested);
  onTestFinished(() => service.close());
  return service.url;
}

/** Of this worker's simulated explorers, one after the other: an engine finds the next where the last one was. */
let usualPort: number | null = null;
let isPortTaken = false;

/** Starts a simulated explorer, until it is closed or the running test ends. */
export async function simulated(options: SimulatorOptions): Promise<Simulator> {
  if (isPortTaken || options.port !== undefined) return untilEnd(await startSimulator(options));
  isPortTaken = true;
  const simulator = await startAtUsualPort(options);
  const end = simulator.close.bind(simulator);
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await end();
    isPortTaken = false;
  };
  return untilEnd(Object.assign(simulator, { close }));
}

async function startAtUsualPort(options: SimulatorOptions): Promise<Simulator> {
  usualPort ??= await freePort();
  try {
    return await startSimulator(options, usualPort);
  } catch {
    // Another program has taken it.
    usualPort = await freePort();
    return startSimulator(options, usualPort);
  }
}

function untilEnd(simulator: Simulator): Simulator {
  onTestFinished(() => simulator.close());
  return simulator;
}

type Json = Record<string, unknown>;

/** A page as an explorer serves it, to be changed in place or replaced. */
export interface ServedPage {
  items: Json[];
  next_page_params: Json | null;
}
