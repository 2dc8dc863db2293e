import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { spellAddress, type Address } from './address.ts';

/** It can't be listened there. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** What a client may take, in ms, and send, in bytes: whoever is slower or larger has no good reason. */
const usualBounds = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  /** Neither read from nor written to for so long: a look at a slow database is shorter, and events come oftener. */
  silentTimeout: 60_000,
};
export type Bounds = typeof usualBounds;
const mostConnections = 256;

/** Whether another program has the address. */
export const isAddressInUse = (error: unknown): boolean =>
  error instanceof ListenError && codeOf(error.cause) === 'EADDRINUSE';

export interface Listening {
  /** Where it is, with the port that it got. */
  readonly address: Address;
  close(): Promise<void>;
}

/** @throws ListenError */
export async function listen(
  app: Hono,
  wanted: Address,
  bounds: Partial<Bounds> = {},
): Promise<Listening> {
  const { silentTimeout, ...serverOptions } = { ...usualBounds, ...bounds };
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions,
  }) as Server;
  boundConnections(server);
  server.setTimeout(silentTimeout);
  server.listen({ host: wanted.host, port: wanted.port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(explain(error, wanted), { cause: error });
  }
  const { port } = server.address() as AddressInfo;
  return {
    address: { ...wanted, port },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Lets the newest connection in, so that a probe always gets through. Beyond the bound, the connection that
 * was silent longest makes room; the new one is refused only where all others wait for an answer.
 */
function boundConnections(server: Server): void {
  /** How many requests each one waits for, in the order in which they fell silent. */
  const open = new Map<Socket, number>();
  const fallSilent = (socket: Socket) => {
    const requests = open.get(socket) ?? 1;
    if (!open.delete(socket)) return;
    open.set(socket, requests - 1);
  };
  server.on('connection', (socket) => {
    if (open.size >= mostConnections) {
      const longest = open.keys().find((each) => open.get(each) === 0) ?? socket;
      open.delete(longest);
      longest.destroy();
      if (longest === socket) return;
    }
    open.set(socket, 0);
    socket.on('close', () => void open.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    if (open.has(socket)) open.set(socket, (open.get(socket) ?? 0) + 1);
    response.on('close', () => fallSilent(socket));
  });
}

function explain(error: unknown, wanted: Address): string {
  const where = spellAddress(wanted);
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `${where} is in use by another program: name another port, or 0 for any that is free.`;
    case 'EACCES':
      return `this user may not listen on ${where}: name a port above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no address ${wanted.host}: name one that it has, such as 127.0.0.1.`;
    default:
      return `can't listen on ${where} (${codeOf(error)}).`;
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
