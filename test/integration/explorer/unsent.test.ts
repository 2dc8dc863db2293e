import { describe, expect, test } from 'vitest';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { rateHeaders } from '../../../src/explorer/response.ts';
import { openScene, rejection } from './keyed.ts';
import { page, serve, serveBytes, serveSocket, start } from './server.ts';

const once = { maxAttempts: 1 };
const closed = 'http://127.0.0.1:1';

describe('a request that never left gives its slot back:', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['no server at the port', () => closed],
    ['no such host', () => 'http://explorer.invalid'],
    ['no TLS', async () => (await serveBytes('no TLS\r\n')).replace('http:', 'https:')],
    [
      'a TLS handshake that ends',
      async () => (await serveSocket((socket) => socket.destroy())).replace('http:', 'https:'),
    ],
    [
      'a TLS handshake that is never answered',
      async () => (await serveSocket(() => undefined)).replace('http:', 'https:'),
    ],
  ])('%s', async (_what, open) => {
    const { fail, slots, givenBack } = start(await open(), { timeouts: { connectMs: 200 } });
    expect(await fail()).toMatchObject({ failure: 'unreachable', status: null });
    expect(slots).toHaveLength(4);
    expect(givenBack).toEqual(slots);
  });
});

test('a request that its time limit ends before it has a connection gives its slot back', async () => {
  const baseUrl = (await serveSocket(() => undefined)).replace('http:', 'https:');
  const { fail, slots, givenBack } = start(baseUrl, { ...once, timeouts: { totalMs: 100 } });
  expect((await fail()).detail).toBe('no complete answer within 100 ms');
  expect(slots).toEqual([1]);
  expect(givenBack).toEqual(slots);
});

describe('behind a proxy, a request that never left gives its slot back:', () => {
  test.each<[string, string, () => string | Promise<string>]>([
    ['no proxy at the port', 'http:', () => closed],
    ['no proxy at the port, of TLS', 'https:', () => closed],
    [
      'a proxy that reaches no explorer',
      'https:',
      () => serveBytes('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    ],
  ])('%s', async (_what, protocol, open) => {
    const proxy = { httpProxy: await open(), noProxy: '' };
    const { fail, slots, givenBack } = start(`${protocol}//explorer.test`, { proxy });
    expect(await fail()).toMatchObject({ failure: 'unreachable', status: null });
    expect(slots).toHaveLength(4);
    expect(givenBack).toEqual(slots);
  });
});

test('an answer through a proxy is cut at the largest body, and is paid', async () => {
  const { baseUrl: httpProxy } = await serve((_request, response) => {
    const more = (): void => void (response.destroyed || response.write('x'.repeat(1_000), more));
    more();
  });
  const proxy = { httpProxy, noProxy: '' };
  const limits = { maxBodyBytes: 10_000, timeouts: { totalMs: 2_000 } };
  const { fail, givenBack } = start('http://explorer.test', { ...once, ...limits, proxy });
  expect(await fail()).toMatchObject({ failure: 'envelope-invalid' });
  expect(givenBack).toEqual([]);
});

test('a server without TLS is named in no words of OpenSSL', async () => {
  const baseUrl = (await serveBytes('no TLS\r\n')).replace('http:', 'https:');
  expect((await start(baseUrl, once).fail()).detail).toBe('no TLS connection can be agreed on');
});

describe('a request that left is paid:', () => {
  test.each([
    ['its answer is cut', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"items":['],
    ['its answer is cut within the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['it has no answer', ''],
  ])('%s', async (_what, answer) => {
    const { fail, givenBack } = start(await serveBytes(answer), once);
    expect(await fail()).toMatchObject({ failure: 'unreachable' });
    expect(givenBack).toEqual([]);
  });

  test('it is late', async () => {
    const { baseUrl } = await serve(() => undefined);
    const { fail, givenBack } = start(baseUrl, { ...once, timeouts: { totalMs: 200 } });
    expect(await fail()).toMatchObject({ failure: 'unreachable' });
    expect(givenBack).toEqual([]);
  });

  test('it is a re-check on a connection of its own', async () => {
    const { baseUrl } = await serve((_request, response) => response.end(page));
    const { get, givenBack } = start(baseUrl, { timeouts: { recheckMs: 0 } });
    await get(undefined, { isRecheck: true });
    expect(givenBack).toEqual([]);
  });
});

test('an outage of the explorer spends no credits, and no day ends by it', async () => {
  const { query, open } = await openScene();
  const offline = await open({ dailyCredits: 40, url: closed });
  for (let time = 0; time < 3; time += 1) {
    expect(await rejection(offline.fetch())).toMatchObject({ failure: 'unreachable' });
  }
  expect(await query('select credits_spent::int, requests::int from etl.budget')).toEqual([
    { credits_spent: 0, requests: 0 },
  ]);
  const online = await open({ dailyCredits: 40 });
  expect(await rejection(online.fetch())).toBeNull();
  expect(await query('select credits_spent::int, requests::int from etl.budget')).toEqual([
    { credits_spent: 20, requests: 1 },
  ]);
});

test('a slot of yesterday that is given back today leaves today as it is', async () => {
  const { query, open } = await openScene();
  const { budget, fetch } = await open({ dailyCredits: 40 });
  await fetch();
  const slot = await budget.take('live', new AbortController().signal);
  const yesterday = new Date(Date.parse(slot.at) - 86_400_000).toISOString();
  const error = new ExplorerError({
    failure: 'unreachable',
    status: null,
    detail: 'connection refused',
    isSent: false,
  });
  await budget.report({ slot: { ...slot, at: yesterday }, error, limits: rateHeaders({}) });
  expect(await query('select credits_spent::int from etl.budget')).toEqual([{ credits_spent: 40 }]);
});
