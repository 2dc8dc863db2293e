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
  /**
   * Every answer that this makes another one of is a lie from now on; the token is null at the head. Null
   * leaves an answer as it is.
   */
  lie: (page: ServedPage, token: string | null) => unknown;
}

/** Stands before an explorer and lies when it is told to. */
export async function lieBefore(trueUrl: string): Promise<LyingExplorer> {
  let requests = 0;
  let until = Infinity;
  let lieOnce = (page: ServedPage): unknown => page;
  const service = { url: '', lie: (() => null) as LyingExplorer['lie'] };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    until -= 1;
    const isLie = until === 0;
    const url = new URL(request.url ?? '/', trueUrl);
    const served = await fetch(url);
    const page = (await served.json()) as ServedPage;
    const told = isLie ? lieOnce(page) : service.lie(page, url.searchParams.get('page_token'));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(told ?? page));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeRequests() {
      const taken = requests;
      requests = 0;
      return taken;
    },
    lieOnce(nth: number, told: (page: ServedPage) => unknown) {
      until = nth;
      lieOnce = told;
    },
  });
}
