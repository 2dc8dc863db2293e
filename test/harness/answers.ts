import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a service says to one request. */
export interface Answer {
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

/** The one way to lie: what a service says instead of the honest answer to a request. */
export type Lie = (url: URL, honest: Answer) => Answer;

/** Starts a service that asks another one, and lies about what it hears. */
export function lyingAbout(trueUrl: string, lie: Lie): Promise<Service> {
  return answering(async (requested) => {
    const url = new URL(`${requested.pathname}${requested.search}`, trueUrl);
    const served = await fetch(url);
    return lie(url, { status: served.status, body: await served.text() });
  });
}
