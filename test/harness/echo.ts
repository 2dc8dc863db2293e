import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A service that is none: each of its answers repeats the request's URL, key and all. */
export async function startEcho(status: number, body: (url: string) => string): Promise<string> {
  const server = createServer((request, response) => {
    const url = `${request.url} ${decodeURIComponent((request.url ?? '').replaceAll('+', ' '))}`;
    response.writeHead(status, { 'x-echo': 'x' }).end(body(url));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
