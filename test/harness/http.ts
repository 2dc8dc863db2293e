import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startHttp, type HttpOptions, type HttpServer } from '../../src/http/server.ts';

/** A page over a database, or over none, for whoever is on this machine. */
export async function startPage(
  url: string | null,
  options: Partial<HttpOptions> = {},
): Promise<HttpServer> {
  const server = await startHttp({
    address: { host: '127.0.0.1', port: 0 },
    metricsAddress: null,
    token: null,
    hosts: [],
    pageSize: 50,
    works: false,
    called: (command) => command,
    now: () => performance.now(),
    ...options,
  });
  if (url !== null) server.use({ url, directUrl: null });
  return server;
}

/** As `startPage`; it ends with the running test. */
export async function servedPage(...asked: Parameters<typeof startPage>): Promise<HttpServer> {
  const server = await startPage(...asked);
  onTestFinished(() => server.close());
  return server;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  /** Sent as they are, Host too, which fetch() would not. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request, its path sent as it is written. */
export async function ask(
  { address: { port } }: Pick<HttpServer, 'address'>,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, resolve);
  asked.on('error', reject);
  asked.end(body);
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) };
}
