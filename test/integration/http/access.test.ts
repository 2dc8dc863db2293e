import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { ListenError } from '../../../src/http/listen.ts';
import { ask, servedPage, startPage, type Answer } from '../../harness/http.ts';

const token = 'a-token-of-thirty-characters-x';
const statusOf = async (answer: Promise<Answer>) => (await answer).status;

test('a name that was made to lead here is refused, one that is listed is not', async () => {
  const page = await servedPage(null, { hosts: ['etl.example.com'] });
  const by = (host: string) => statusOf(ask(page, '/healthz', { headers: { host } }));
  expect(await by('evil.example.com')).toBe(421);
  expect(await by('127.0.0.1.evil.example.com')).toBe(421);
  expect(await by('etl.example.com')).toBe(200);
  expect(await by(`localhost:${page.address.port}`)).toBe(200);
  expect(await by(`[::1]:${page.address.port}`)).toBe(200);
});

test("another site's page gets nothing, and nothing writes", async () => {
  const page = await servedPage(null);
  const with_ = (headers: Record<string, string>) =>
    statusOf(ask(page, '/status.json', { headers }));
  expect(await with_({ origin: 'https://evil.example.com' })).toBe(403);
  expect(await with_({ origin: 'null' })).toBe(403);
  const framed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(await with_({ ...framed, 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await with_({ ...framed, 'sec-fetch-dest': 'document' })).toBe(200);
  expect(await with_({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' })).toBe(403);
  expect(await with_({ origin: `http://127.0.0.1:${page.address.port}` })).toBe(200);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
    expect(await statusOf(ask(page, '/', { method })), method).toBe(405);
  }
});

test('beyond this machine a token is wanted', async () => {
  const open = (host: string, wanted: string | null) =>
    startPage(null, { address: { host, port: 0 }, token: wanted });
  await expect(open('0.0.0.0', null)).rejects.toThrow(/EXPLORER_ETL_HTTP_TOKEN/);
  await expect(open('::', null)).rejects.toThrow(ListenError);
  const page = await open('0.0.0.0', token);
  expect(await statusOf(ask(page, '/'))).toBe(401);
  expect(await statusOf(ask(page, '/status.json'))).toBe(401);
  expect(await statusOf(ask(page, '/events'))).toBe(401);
  expect(await statusOf(ask(page, '/panels/coverage'))).toBe(401);
  expect(await statusOf(ask(page, '/healthz'))).toBe(200);
  await page.close();
});

test('the token lets in as a header, and a browser without it gets the page without data', async () => {
  const page = await servedPage(null, { token });
  const shown = { headers: { authorization: `Bearer ${token}` } };
  for (const path of ['/', '/status.json', '/panels/verdict']) {
    expect(await statusOf(ask(page, path, shown)), path).toBe(200);
  }
  for (const wrong of [`${token}y`, token.slice(1), '']) {
    const headers = { authorization: `Bearer ${wrong}` };
    expect(await statusOf(ask(page, '/status.json', { headers })), wrong).toBe(401);
  }
  // No address holds it: addresses are logged and remembered.
  expect(await statusOf(ask(page, `/status.json?token=${token}`))).toBe(401);

  const { status, headers, body } = await ask(page, '/', { headers: { accept: 'text/html' } });
  expect([status, headers['set-cookie']]).toEqual([401, undefined]);
  expect(body).toContain('#token=');
  expect(body).not.toContain('<section');
  // Reasons hold what the explorer said: they are for those who are let in.
  const ready = await ask(page, '/readyz');
  expect(JSON.parse(ready.body)).toMatchObject({ reasons: [{ kind: 'database-away' }] });
  expect(ready.body).not.toContain('message');
});

test('an address of health and metrics knows its names too, where it is of this machine', async () => {
  const page = await servedPage(null, { metricsAddress: { host: '127.0.0.1', port: 0 } });
  if (page.metricsAddress === null) throw new Error('no address');
  const monitoring = { address: page.metricsAddress };
  const evil = { host: 'evil.example.com', origin: 'http://evil.example.com' };
  expect(await statusOf(ask(monitoring, '/readyz', { headers: evil }))).toBe(421);
  expect(await statusOf(ask(monitoring, '/healthz'))).toBe(200);
  expect(await statusOf(ask(monitoring, '/'))).toBe(404);
});

test('no path leads out of what is served', async () => {
  const page = await servedPage(null);
  for (const path of [
    '/../package.json',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/page.css%00.js',
    '/assets//etc/passwd',
    '/panels/__proto__',
    '/assets/constructor',
  ]) {
    expect(await statusOf(ask(page, path)), path).toBe(404);
  }
});

test('what is too large is refused, and who is slow is hung up on', async () => {
  const bounds = { headersTimeout: 50, connectionsCheckingInterval: 20 };
  const page = await servedPage(null, { bounds });
  const { port } = page.address;
  const large = await ask(page, '/', { headers: { 'x-large': 'x'.repeat(20_000) } });
  expect(large.status).toBe(431);
  // It sends the first line and nothing more.
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 408/);
});

test('connections that say nothing keep no probe out, however many they are', async () => {
  const page = await servedPage(null);
  const idle = Array.from({ length: 300 }, () => connect(page.address.port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(
    idle.map((socket) =>
      once(
        socket.on('error', () => undefined),
        'connect',
      ),
    ),
  );
  expect(await statusOf(ask(page, '/healthz'))).toBe(200);
  expect(await statusOf(ask(page, '/readyz'))).toBe(503);
});

test('who asks and reads nothing is hung up on', async () => {
  const page = await servedPage(null, { bounds: { silentTimeout: 200 } });
  const socket = connect(page.address.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const ended = once(socket, 'error');
  const asked = 'GET /assets/page.css HTTP/1.1\r\nHost: localhost\r\n\r\n';
  socket.pause().write(asked.repeat(2_000));
  // One who reads nothing learns of the end when it says something again.
  const again = setInterval(() => void socket.write(asked), 50);
  onTestFinished(() => clearInterval(again));
  const [error] = (await ended) as [NodeJS.ErrnoException];
  expect(['ECONNRESET', 'EPIPE']).toContain(error.code);
});

test('of a hundred open event streams those above the bound are sent away, and ended ones make room', async () => {
  const page = await servedPage(null);
  const url = `http://127.0.0.1:${page.address.port}/events`;
  const ends = Array.from({ length: 100 }, () => new AbortController());
  const answers = await Promise.all(ends.map(({ signal }) => fetch(url, { signal })));
  const counts = Map.groupBy(answers, ({ status }) => status);
  expect([counts.get(200)?.length, counts.get(503)?.length]).toEqual([32, 68]);
  expect(await statusOf(ask(page, '/healthz'))).toBe(200);
  // They have no body, so they take no room.
  for (let asked = 0; asked < 40; asked += 1) {
    expect(await statusOf(ask(page, '/events', { method: 'HEAD' }))).toBe(200);
  }
  for (const end of ends) end.abort();
  await expect.poll(async () => (await fetch(url)).status, { timeout: 120_000 }).toBe(200);
});

test('every answer carries the policy', async () => {
  const page = await servedPage(null);
  for (const path of ['/', '/nothing', '/healthz', '/assets/page.css', '/panels/verdict']) {
    const { headers } = await ask(page, path);
    expect(headers['content-security-policy'], path).toMatch(
      /^default-src 'none'; script-src 'self'/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
  }
});

test('an address that is taken says so, and what to do', async () => {
  const page = await servedPage(null);
  await expect(servedPage(null, { address: page.address })).rejects.toThrow(
    /is in use by another program: name another port/,
  );
});
