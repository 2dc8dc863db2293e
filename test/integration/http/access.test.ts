import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { ListenError } from '../../../src/http/server.ts';
import { freshDatabase } from '../../harness/database.ts';
import { ask, servedPage, type Answer } from '../../harness/http.ts';

const token = 'a-token-of-thirty-characters-x';
const statusOf = async (answer: Promise<Answer>) => (await answer).status;

test('a request by a foreign host name is refused, and one by a configured name is not', async () => {
  const page = await servedPage(null, { hosts: ['etl.example.com'] });
  const by = (host: string) => statusOf(ask(page, '/healthz', { headers: { host } }));
  expect(await by('evil.example.com')).toBe(421);
  expect(await by('127.0.0.1.evil.example.com')).toBe(421);
  expect(await by('etl.example.com')).toBe(200);
  expect(await by(`localhost:${page.address.port}`)).toBe(200);
  expect(await by(`[::1]:${page.address.port}`)).toBe(200);
});

test('requests from another site, and methods that write, are refused', async () => {
  const page = await servedPage(null);
  const with_ = (headers: Record<string, string>) => statusOf(ask(page, '/metrics', { headers }));
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

const data = [
  '/status.json',
  '/strips.json',
  '/coverage.json?feed=10/user-operations',
  '/throughput.json',
  '/runs.json',
  '/queries.json',
  '/query.json?name=operations-daily',
  '/query.csv?name=operations-daily',
  '/trace.json?term=1',
  '/metrics',
];

test('beyond this machine, all data requires a token', async () => {
  const open = (host: string, wanted: string | null) =>
    servedPage(null, { address: { host, port: 0 }, token: wanted });
  await expect(open('0.0.0.0', null)).rejects.toThrow(/EXPLORER_ETL_HTTP_TOKEN/);
  await expect(open('::', null)).rejects.toThrow(ListenError);
  const page = await open('0.0.0.0', token);
  for (const path of data) expect(await statusOf(ask(page, path)), path).toBe(401);
  for (const path of ['/', '/healthz']) expect(await statusOf(ask(page, path)), path).toBe(200);
});

test('the token is accepted as a header only, and the page without it holds no data', async () => {
  const page = await servedPage(null, { token });
  const sent = { headers: { authorization: `Bearer ${token}` } };
  for (const path of ['/', '/metrics']) {
    expect(await statusOf(ask(page, path, sent)), path).toBe(200);
  }
  expect(await statusOf(ask(page, '/status.json', sent))).toBe(503);
  for (const wrong of [`${token}y`, token.slice(1), '']) {
    const headers = { authorization: `Bearer ${wrong}` };
    expect(await statusOf(ask(page, '/status.json', { headers })), wrong).toBe(401);
  }
  // No URL holds it: URLs are logged and remembered.
  expect(await statusOf(ask(page, `/status.json?token=${token}`))).toBe(401);
  const { headers } = await ask(page, '/status.json');
  expect([headers['www-authenticate'], headers['set-cookie']]).toEqual(['Bearer', undefined]);
  // Reasons may quote the explorer: they are for those who are let in.
  const ready = await ask(page, '/readyz');
  expect(JSON.parse(ready.body)).toMatchObject({ reasons: [{ code: 'database-unreachable' }] });
  expect(ready.body).not.toContain('sentence');
});

test('the address for health and metrics refuses foreign host names too', async () => {
  const page = await servedPage(null, { metricsAddress: { host: '127.0.0.1', port: 0 } });
  if (page.metricsAddress === null) throw new Error('no address');
  const monitoring = { address: page.metricsAddress };
  const evil = { host: 'evil.example.com', origin: 'http://evil.example.com' };
  expect(await statusOf(ask(monitoring, '/readyz', { headers: evil }))).toBe(421);
  expect(await statusOf(ask(monitoring, '/healthz'))).toBe(200);
  expect(await statusOf(ask(monitoring, '/'))).toBe(404);
});

test('no path leads to a file that is not served', async () => {
  const page = await servedPage(null);
  for (const path of [
    '/../package.json',
    '/web/../../package.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/package.json',
    '/app.js%00.css',
    '//etc/passwd',
    '/__proto__',
    '/constructor',
  ]) {
    expect(await statusOf(ask(page, path)), path).toBe(404);
  }
});

test('a large request is refused, and a slow one times out', async () => {
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

test('hundreds of silent connections do not block a probe', async () => {
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

test('a connection on which nothing moves is closed', async () => {
  const status = () => Promise.withResolvers<never>().promise;
  const page = await servedPage(null, { status, bounds: { silentTimeout: 200 } });
  const socket = connect(page.address.port, '127.0.0.1');
  socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await text(socket)).toBe('');
});

test('a hundred clients that wait for the database do not block a probe', async () => {
  const { pool, url } = await freshDatabase();
  const holder = await pool.connect();
  await holder.query('begin; lock table etl.runs in access exclusive mode');
  const page = await servedPage(url);
  const waiting = Array.from({ length: 100 }, () => statusOf(ask(page, '/runs.json')));
  expect(await statusOf(ask(page, '/healthz'))).toBe(200);
  // Those above the bound are sent away at once.
  const first = await Promise.race(waiting);
  await holder.query('rollback');
  holder.release();
  const counts = Map.groupBy(await Promise.all(waiting), (status) => status);
  expect([first, counts.get(200)?.length, counts.get(503)?.length]).toEqual([503, 32, 68]);
});

test('every response has the security headers', async () => {
  const page = await servedPage(null);
  for (const path of ['/', '/nothing', '/healthz', '/app.js', '/status.json', '/runs.json']) {
    const { headers } = await ask(page, path);
    expect(headers['content-security-policy'], path).toMatch(
      /^default-src 'none'; script-src 'self'/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('DENY');
  }
});

test('an address that is in use is an error that says what to do', async () => {
  const page = await servedPage(null);
  await expect(servedPage(null, { address: page.address })).rejects.toThrow(
    /is in use by another program: name another port/,
  );
});
