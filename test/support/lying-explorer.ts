import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ServedPage } from './altered-explorer.ts';

/** Answers of another explorer, with one of them changed. */
export interface LyingExplorer {
  readonly url: string;
  /** Requests since it was read last. */
  takeRequests(): number;
  /**
   * The nth request from now on is answered with what this makes of the true answer, and then the
   * truth again.
   */
  lieOnce(nth: number, lie: (page: ServedPage) => unknown): void;
}

/** Stands before an explorer and lies when it is told to. */
export async function lieBefore(trueUrl: string): Promise<LyingExplorer> {
  let requests = 0;
  let until = Infinity;
  let lie = (page: ServedPage): unknown => page;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    until -= 1;
    const isLie = until === 0;
    const served = await fetch(new URL(request.url ?? '/', trueUrl));
    const page = (await served.json()) as ServedPage;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isLie ? lie(page) : page));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeRequests() {
      const taken = requests;
      requests = 0;
      return taken;
    },
    lieOnce(nth, told) {
      until = nth;
      lie = told;
    },
  };
}
