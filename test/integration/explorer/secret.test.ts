import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { canary, secondCanary, serve, serveBytes, start } from './server.ts';

/** Every text that a value holds: own properties (hidden ones too), causes, prototypes' getters. */
function texts(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const own = Reflect.ownKeys(value).flatMap((key) => [
    String(key),
    ...texts(Reflect.get(value, key), seen),
  ]);
  const shown = inspect(value, { depth: 20, showHidden: true, getters: true });
  return [...own, shown, JSON.stringify(value) ?? ''];
}

const forms = [canary, secondCanary].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ x: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
]);

/** The forms of a secret that a value shows. */
function leaks(value: unknown): string[] {
  // Stacks name files, whose folder may be called anything.
  const all = [...texts(value), String(value)].join('\n').replaceAll(process.cwd(), '');
  return ['canary', ...forms].filter((form) => all.includes(form));
}

const echo = (url: string | undefined): string =>
  decodeURIComponent(`http://x${url} http://x`) + url;

test.each([
  [200, 'text', (url: string) => url],
  [200, 'html', (url: string) => `<html><title>No ${url}</title>`],
  [400, 'json', (url: string) => JSON.stringify({ code: 3, message: `bad ${url}` })],
  [401, 'json', (url: string) => JSON.stringify({ error: `key ${url} is wrong` })],
  [422, 'json', (url: string) => JSON.stringify({ errors: [{ title: url, detail: url }] })],
  [500, 'json', (url: string) => JSON.stringify({ error: { nested: url } })],
  [502, 'text', (url: string) => `${'x'.repeat(150)}${url}`],
])(
  'an answer HTTP %i that echoes the URL as %s leaves no secret in the error',
  async (status, _kind, body) => {
    const { baseUrl } = await serve((request, response) => {
      response.writeHead(status).end(body(echo(request.url)));
    });
    expect(leaks(await start(baseUrl).fail())).toEqual([]);
  },
);

test('a redirect with the secret in host and query leaves none in the error', async () => {
  const { baseUrl } = await serve((request, response) => {
    response.writeHead(302, { location: `http://canary-api.example${request.url}` }).end();
  });
  const error = await start(baseUrl, { apiKey: 'canary-api' }).fail();
  expect(leaks(error)).toEqual([]);
});

test.each([
  ['a cut answer', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx'],
  ['no HTTP at all', `canary ${canary}`],
])('%s leaves no secret in the error or its cause', async (_name, answer) => {
  const error = await start(await serveBytes(answer)).fail();
  expect(leaks(error)).toEqual([]);
  expect(error.cause).toBeInstanceOf(Error);
});

test('a time limit and a refused connection leave no secret in the error', async () => {
  const { baseUrl } = await serve(() => undefined);
  const late = await start(baseUrl, { maxAttempts: 1, timeouts: { totalMs: 50 } }).fail();
  const refused = await start('http://127.0.0.1:1').fail();
  expect(refused.detail).toContain('ECONNREFUSED');
  expect([late, refused].flatMap(leaks)).toEqual([]);
});

test('a page that repeats the keys loses them before it is parsed', async () => {
  const { baseUrl } = await serve((request, response) => {
    const item = { self: echo(request.url), keys: [canary, secondCanary] };
    response.end(JSON.stringify({ items: [item], next_page_params: null }));
  });
  const { json, body } = await start(baseUrl).get();

  expect(json).toMatchObject({ items: [{ keys: ['***', '***'] }] });
  expect([json, body.toString()].flatMap(leaks)).toEqual([]);
});
