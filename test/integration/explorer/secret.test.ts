import { inspect } from 'node:util';
import * as fc from 'fast-check';
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

test.each(['canary-api', 'Canary-API'])(
  'a redirect with the secret %s in host and query leaves none in the error',
  async (apiKey) => {
    const { baseUrl } = await serve((request, response) => {
      response.writeHead(302, { location: `http://${apiKey}.example${request.url}` }).end();
    });
    expect(leaks(await start(baseUrl, { apiKey }).fail())).toEqual([]);
  },
);

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
  expect(refused.detail).toBe('connection refused');
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

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
const jsonEscaped = (text: string) =>
  Array.from(text, (unit) => String.raw`\u${hex(unit.charCodeAt(0), 4)}`).join('');
const percentEncoded = (text: string, percent = '%') =>
  [...Buffer.from(text)].map((byte) => `${percent}${hex(byte, 2)}`).join('');

/** How a service may write a character of a text, before the text becomes JSON. */
const writings: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) => percentEncoded(character),
  (character) => percentEncoded(character, '%2525'),
  (character) => `&#${character.charCodeAt(0)};`,
  (character) => `&#x${hex(character.charCodeAt(0), 6)};`,
  jsonEscaped,
];

/** What a reader makes of a stored text who undoes all of that. */
const readable = (text: string): string =>
  text
    .replaceAll(/\\+u([\da-f]{4})/gu, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll(/&#x([\da-f]+);/gu, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replaceAll(/&#(\d+);/gu, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/(?:%(?:25)*[\da-f]{2})+/gu, (run) =>
      decodeURIComponent(run.replaceAll(/%(?:25)*([\da-f]{2})/gu, '%$1')),
    );

test('a page loses a key of which each character is written in another way', async () => {
  let body = '';
  const { baseUrl } = await serve((_request, response) => void response.end(body));
  const explorer = start(baseUrl);
  const choice = fc.integer({ min: 0, max: writings.length - 1 });
  const choices = fc.array(fc.tuple(choice, fc.boolean()), { minLength: 20, maxLength: 20 });
  const property = fc.asyncProperty(
    fc.constantFrom(canary, secondCanary),
    choices,
    async (key, how) => {
      const text = Array.from(key, (character, at) => {
        const [writing = 0, isEscaped = false] = how[at] ?? [];
        const written = writings[writing]?.(character) ?? character;
        return isEscaped ? jsonEscaped(written) : JSON.stringify(written).slice(1, -1);
      }).join('');
      body = `{"items": [{"hash": "0x1", "note": "a ${text} b", "x${text}": 1}], "next_page_params": null}`;
      const page = await explorer.get();
      expect(page.json).toMatchObject({ items: [{ hash: '0x1', note: 'a *** b', 'x***': 1 }] });
      expect(JSON.parse(page.body.toString())).toEqual(page.json);
      expect(readable(page.body.toString())).not.toContain(key);
    },
  );
  await fc.assert(property, { numRuns: 200 });
});

test('a page keeps a field twice only without the key', async () => {
  const { baseUrl } = await serve((_request, response) => {
    response.end(
      `{"items": [{"note": "${jsonEscaped(canary)}", "note": "%"}], "next_page_params": null}`,
    );
  });
  const { json, body } = await start(baseUrl).get();
  expect(json).toEqual({ items: [{ note: '%' }], next_page_params: null });
  expect(body.toString()).toBe(JSON.stringify(json));
});

test('a page with escapes and no key stays as it was sent', async () => {
  const sent = String.raw`{"items": [{"note": "100 % \u0041 &amp; ?key=own", "wei": 123456789012345678901}], "next_page_params": null}`;
  const { baseUrl } = await serve((_request, response) => void response.end(sent));
  const { body } = await start(baseUrl).get();
  expect(body.toString()).toBe(sent);
});
