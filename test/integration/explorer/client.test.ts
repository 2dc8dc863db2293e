import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { canary, page, secondCanary, serve, serveBytes, start } from './server.ts';

test('gets a page with the credentials in the query and only there', async () => {
  const seen: { url: URL; headers: string }[] = [];
  const { baseUrl } = await serve((request, response) => {
    seen.push({ url: new URL(request.url ?? '', 'http://x'), headers: request.rawHeaders.join() });
    response.setHeader('x-ratelimit-limit', '5').setHeader('x-ratelimit-remaining', '4');
    response.setHeader('x-ratelimit-reset', '-1').setHeader('x-credits-remaining', '980');
    response.end(page);
  });
  const { get, reports } = start(`${baseUrl}/prefix/`);
  const answer = await get();
  expect(answer.body.toString()).toBe(page);
  expect(answer).toMatchObject({ bytes: page.length, attempts: 1, page_id: 1 });
  const limits = { limit: 5, remaining: 4, resetMs: null, creditsRemaining: 980 };
  expect(reports).toMatchObject([{ slot: { page_id: 1 }, error: null, limits }]);
  expect(answer.latencyMs).toBeGreaterThan(0);
  expect(seen[0]?.url.pathname).toBe('/prefix/10/api/v2/proxy/account-abstraction/operations');
  expect(Object.fromEntries(seen[0]?.url.searchParams ?? [])).toEqual({
    page_size: '50',
    apikey: canary,
    key: secondCanary,
  });
  expect(seen[0]?.headers).not.toContain('canary');
});

test('a cursor that echoes key or apikey neither adds nor replaces a credential', async () => {
  const seen: string[][] = [];
  const { baseUrl } = await serve((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    seen.push([...searchParams.getAll('apikey'), ...searchParams.getAll('key')]);
    response.end(page);
  });
  const { client } = start(baseUrl, { secretKey: null });
  const query = { key: 'echo', apikey: 'echo', page_token: 'a+b/c=' };
  await client.send({ chainId: 10, path: 'x', query }, new AbortController());
  expect(seen).toEqual([[canary]]);
});

test('connections are kept and serve many requests, failed ones included', async () => {
  let number = 0;
  const { baseUrl, sockets, requests } = await serve((_request, response) => {
    number += 1;
    response.statusCode = number % 5 === 0 ? 503 : 200;
    response.end(number % 5 === 0 ? '{"error":"x"}' : page);
  });
  const { get } = start(baseUrl);
  for (let i = 0; i < 20; i += 1) await get();
  expect(requests()).toBe(24);
  // undici opens a second one where a request comes before the first is marked free.
  expect(sockets.size).toBeLessThanOrEqual(2);
});

test.each([
  ['gzip', gzipSync],
  [' BR', brotliCompressSync],
  ['identity', (text: string) => Buffer.from(text)],
] as const)('decodes %s', async (encoding, encode) => {
  const long = JSON.stringify({ items: ['a'.repeat(10_000)], next_page_params: null });
  const body = encode(long);
  const { baseUrl } = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('gzip, br');
    response.setHeader('content-encoding', encoding).end(body);
  });
  const answer = await start(baseUrl).get();
  expect(answer.body.toString()).toBe(long);
  expect(answer.bytes).toBe(body.length);
});

test('each attempt has a slot, and the page has the slot of the one that succeeded', async () => {
  let number = 0;
  const { baseUrl } = await serve((_request, response) => {
    number += 1;
    response.statusCode = number < 3 ? 502 : 200;
    response.end(number < 3 ? '<html>bad gateway</html>' : page);
  });
  const { get, slots, waits } = start(baseUrl);
  const answer = await get();
  expect(answer).toMatchObject({ attempts: 3, page_id: 3 });
  expect(slots).toEqual([1, 2, 3]);
  expect(waits).toHaveLength(2);
});

test('a header counts in any case of its name, and as often as it is sent', async () => {
  const head = 'X-RateLimit-Limit: 9\r\nx-ratelimit-limit: 7\r\nX-RATELIMIT-LIMIT: 8';
  const answer = `HTTP/1.1 200 OK\r\n${head}\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
  const { get, reports } = start(await serveBytes(answer));
  await get();
  expect(reports).toMatchObject([{ limits: { limit: 7 } }]);
});

test.each([200, 403, 503])(
  'HTTP %i of something in front of the explorer states no limit of the key',
  async (status) => {
    const { baseUrl } = await serve((_request, response) => {
      response.setHeader('x-ratelimit-limit', '1').setHeader('x-credits-remaining', '0');
      response.writeHead(status).end('<html><title>Just a moment...</title></html>');
    });
    const { fail, reports } = start(baseUrl, { maxAttempts: 1 });
    await fail();
    expect(reports).toMatchObject([{ limits: { limit: null, creditsRemaining: null } }]);
  },
);

test('an error of the budget ends the request before it is sent', async () => {
  const { baseUrl, requests } = await serve((_request, response) => response.end(page));
  const refusal = new Error('budget gone');
  const { budget, get } = start(baseUrl);
  budget.take = () => Promise.reject(refusal);
  await expect(get()).rejects.toBe(refusal);
  expect(requests()).toBe(0);
});

test('429 waits as requested, and is tried eight times', async () => {
  const { baseUrl, requests } = await serve((_request, response) => {
    response.writeHead(429, { 'retry-after': '2' }).end('{"message":"Too many requests."}');
  });
  const { fail, waits } = start(baseUrl);
  expect(await fail()).toMatchObject({
    failure: 'throttled',
    status: 429,
    detail: 'Too many requests.',
  });
  expect(requests()).toBe(8);
  expect(waits).toEqual(Array.from({ length: 7 }, () => 2000));
});

test.each([
  ['an error', '{"message":"Slow down."}'],
  ['other JSON', '{"status":"busy"}'],
  ['a cut page', page.slice(0, -1)],
])('an HTTP 200 with %s waits as requested', async (_what, body) => {
  const { baseUrl } = await serve((_request, response) => {
    response.setHeader('retry-after', '3').end(body);
  });
  const { fail, waits } = start(baseUrl, { maxAttempts: 2 });
  expect(await fail()).toMatchObject({ failure: 'envelope-invalid', retryAfterMs: 3000 });
  expect(waits).toEqual([3000]);
});

test('a redirect is not followed and its detail names the host alone', async () => {
  const elsewhere = await serve((_request, response) => response.end(page));
  const { baseUrl, requests } = await serve((request, response) => {
    response.writeHead(301, { location: `${elsewhere.baseUrl}${request.url}` }).end();
  });
  const error = await start(baseUrl).fail();
  expect(error).toMatchObject({ failure: 'unreachable', status: 301 });
  expect(error.detail).toBe(`redirected to ${new URL(elsewhere.baseUrl).host}, not followed`);
  expect(requests()).toBe(4);
  expect(elsewhere.requests()).toBe(0);
});
