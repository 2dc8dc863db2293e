import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { boundClients } from '../../../src/http/clients.ts';
import { ask, servedPage } from '../../harness/http.ts';

const megabyte = 1024 * 1024;

const get = (path: string, connection = 'keep-alive') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;

/** As many as the program reads at once. */
const pipelined = (path: string) => `${get(path).repeat(800)}${get(path, 'close')}`;

/** A client that sends a text and reads nothing until it is asked to. */
function open(port: number, sent: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.pause().write(sent);
  return socket;
}

/** What a client reads until its connection is closed. */
async function received(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk)).on('close', () => resolve());
  socket.resume();
  await promise;
  return Buffer.concat(chunks).toString('latin1');
}

const answersIn = (all: string) => all.split('HTTP/1.1 200 OK').length - 1;

test.each(['/app.js', '/', '/metrics', '/healthz'])(
  'a connection that requests %s again and again without waiting is closed, and gets no answer',
  async (path) => {
    const page = await servedPage(null, { metricsAddress: { host: '127.0.0.1', port: 0 } });
    const ports = [page.address.port, page.metricsAddress?.port ?? 0];
    for (const port of ports) {
      expect(answersIn(await received(open(port, pipelined(path))))).toBe(0);
    }
  },
);

test('of many requests that are sent at once only a few are parsed', async () => {
  const server = createServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  let parsed = 0;
  boundClients(server, (_request, response) => response.end());
  server.on('request', () => (parsed += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await received(open((server.address() as AddressInfo).port, pipelined('/')));
  expect(parsed).toBeGreaterThan(0);
  expect(parsed).toBeLessThan(20);
});

test.each(['Content-Length: 1000000000', 'Transfer-Encoding: chunked'])(
  'a connection that sends more than a request, with %j, is closed, and gets no answer',
  async (header) => {
    const page = await servedPage(null, { metricsAddress: { host: '127.0.0.1', port: 0 } });
    for (const port of [page.address.port, page.metricsAddress?.port ?? 0]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const head = `${method} /healthz HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;
        expect(await received(open(port, head))).toBe('');
      }
    }
  },
);

const upgrade = (protocol: string) =>
  `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;

test.each(['h2c', 'websocket'])(
  'a client that would rather speak %s is answered once',
  async (protocol) => {
    const page = await servedPage(null, { metricsAddress: { host: '127.0.0.1', port: 0 } });
    for (const port of [page.address.port, page.metricsAddress?.port ?? 0]) {
      const answer = await received(open(port, upgrade(protocol)));
      expect(answersIn(answer)).toBe(1);
      expect(answer).toMatch(/^connection: close\r$/imu);
    }
  },
);

test('nothing is read of what a client sends in another protocol', async () => {
  const server = createServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  let bytesRead = 0;
  boundClients(server, async ({ socket }, response) => {
    // Node reads up to 64 KiB a turn.
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    bytesRead = socket.bytesRead;
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sent = `${upgrade('websocket')}${'x'.repeat(8 * megabyte)}`;
  await received(open((server.address() as AddressInfo).port, sent));
  expect(bytesRead).toBeGreaterThan(0);
  expect(bytesRead).toBeLessThan(megabyte / 2);
});

test('a connection serves one request after the other', async () => {
  const page = await servedPage(null);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const sockets = new Set<Socket>();
  for (let count = 0; count < 20; count += 1) {
    const sent = request({ agent, port: page.address.port, path: '/app.js' }).end();
    const [answer] = await once(sent, 'response');
    sockets.add(answer.socket);
    expect(answer.statusCode).toBe(200);
    await text(answer);
  }
  expect(sockets.size).toBe(1);
});

test('clients that do not read their answers are closed, those that are silent for longest first', async () => {
  const body = Buffer.alloc(6 * megabyte, 'x');
  const page = await servedPage(null, {
    assets: async () => new Map([['/app.js', { type: 'text/javascript', body }]]),
  });
  const clients: Socket[] = [];
  for (let count = 0; count < 8; count += 1) {
    clients.push(open(page.address.port, get('/app.js', 'close')));
    expect((await ask(page, '/healthz')).status).toBe(200);
  }
  const read = await Promise.all(clients.map(received));
  // 16 MiB are held for all; what the system had taken of the others is cut.
  const whole = read.map((answer) => answer.length > body.length);
  expect(whole).toEqual([false, false, false, false, false, false, true, true]);
});

test('requests that wait keep no probe out, however many they are', async () => {
  const metricsAddress = { host: '127.0.0.1', port: 0 };
  const status = () => Promise.withResolvers<never>().promise;
  const page = await servedPage(null, { status, metricsAddress });
  for (let count = 0; count < 300; count += 1) {
    const socket = open(page.address.port, get('/readyz'));
    await once(socket, 'connect');
    // By another server, so that this request waits too before the next one comes.
    await ask({ address: page.metricsAddress ?? metricsAddress }, '/healthz');
  }
  expect((await ask(page, '/healthz')).status).toBe(200);
});
