import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { ExplorerError } from '../../../src/explorer/error.ts';
import { page, serve, start } from './server.ts';

type Answer = readonly [status: number, body: string];

const served: Answer = [200, page];
const forbidden: Answer = [403, '{"error":"Forbidden"}'];
const challenge: Answer = [403, '<html><title>Just a moment...</title></html>'];
const wrongKey: Answer = [401, '{"error":"Unauthorized"}'];

/** A key's lists on one chain; `request` gives the class of the answer to a list, as the program judges it. */
async function openLists() {
  let answer: Answer = served;
  let hold: Promise<unknown> | null = null;
  const { baseUrl } = await serve((_request, response: ServerResponse) => {
    const [status, body] = answer;
    const send = () => void response.writeHead(status).end(body);
    if (hold === null) send();
    else void hold.then(send);
    hold = null;
    arrived.resolve();
  });
  const arrived = Promise.withResolvers<void>();
  const { get, reports } = start(baseUrl, { maxAttempts: 1 });
  const request = async (operation: string, with_: Answer) => {
    answer = with_;
    const error = await get(undefined, { operation }).then(
      () => null,
      (failure: unknown) => failure,
    );
    if (error !== null && !(error instanceof ExplorerError)) throw error;
    return error === null ? 'ok' : error.failure;
  };
  /** The classes by which the budget pauses the key. */
  const reported = () =>
    reports.map((report) => (report as { error: ExplorerError | null }).error?.failure ?? 'ok');
  /** Requests a page of a list, which is answered when `answered` resolves. @returns once it has arrived */
  const requestSlowly = async (operation: string, answered: Promise<unknown>) => {
    hold = answered;
    const seen = request(operation, served);
    await arrived.promise;
    return { seen };
  };
  return { request, requestSlowly, reported };
}

test('a 403 is a fact about its list, however often it comes', async () => {
  const { request } = await openLists();
  const seen = [];
  for (let time = 0; time < 3; time += 1) seen.push(await request('factories', forbidden));
  expect(seen).toEqual(['forbidden', 'forbidden', 'forbidden']);
});

test('a 403 for two lists, and no page in between, is a fact about the key, and pauses no other list', async () => {
  const { request, reported } = await openLists();
  expect([
    await request('factories', forbidden),
    await request('bundlers', forbidden),
    await request('factories', forbidden),
  ]).toEqual(['forbidden', 'unauthorized', 'unauthorized']);
  expect(reported()).toEqual(['forbidden', 'forbidden', 'forbidden']);
});

test.each([405, 409, 413, 451])(
  'an HTTP %i for two lists is no fact about the key',
  async (status) => {
    const { request } = await openLists();
    const refused: Answer = [status, '{"error":"No"}'];
    expect([await request('factories', refused), await request('bundlers', refused)]).toEqual([
      'forbidden',
      'forbidden',
    ]);
  },
);

test('a 403 that names the plan of the key is a fact about its list', async () => {
  const { request } = await openLists();
  const plan: Answer = [403, '{"error":"The plan of your API key lacks this endpoint"}'];
  expect(await request('factories', plan)).toBe('forbidden');
});

test('a page for any list of the key leaves each 403 with its list', async () => {
  const { request } = await openLists();
  expect([
    await request('factories', forbidden),
    await request('user-operations', served),
    await request('bundlers', forbidden),
    await request('user-operations', served),
    await request('factories', forbidden),
    await request('bundlers', forbidden),
  ]).toEqual(['forbidden', 'ok', 'forbidden', 'ok', 'forbidden', 'forbidden']);
});

test('a list that is served and then refused counts for the key once more', async () => {
  const { request } = await openLists();
  expect([
    await request('factories', forbidden),
    await request('bundlers', served),
    await request('factories', served),
    await request('factories', forbidden),
    await request('bundlers', forbidden),
  ]).toEqual(['forbidden', 'ok', 'ok', 'forbidden', 'unauthorized']);
});

test('the words of the service alone make a refusal a fact about the key', async () => {
  const { request } = await openLists();
  expect(await request('factories', wrongKey)).toBe('unauthorized');
  expect(await request('factories', [403, '{"error":"Invalid API key"}'])).toBe('unauthorized');
  expect(await request('factories', [402, '{"error":"Proceed with API key"}'])).toBe('key-missing');
});

test('words about the key that a page for another list refutes are about their list', async () => {
  const { request } = await openLists();
  expect([
    await request('factories', wrongKey),
    await request('user-operations', served),
    await request('factories', wrongKey),
    await request('user-operations', wrongKey),
  ]).toEqual(['unauthorized', 'ok', 'forbidden', 'unauthorized']);
});

test.each([
  ['an empty object', '{}'],
  ['a status', '{"status":"ok"}'],
  ['a long note', `{"note":"${'x'.repeat(5_000)}"}`],
  ['items without a next page', '{"items":[]}'],
])('an HTTP 200 that is no page refutes no refusal: %s', async (_what, body) => {
  const { request, reported } = await openLists();
  expect([
    await request('factories', wrongKey),
    await request('user-operations', [200, body]),
    await request('factories', wrongKey),
  ]).toEqual(['unauthorized', 'envelope-invalid', 'unauthorized']);
  expect(reported()).toEqual(['unauthorized', 'envelope-invalid', 'unauthorized']);
});

test('a page that was requested before a refusal does not refute it', async () => {
  const { request, requestSlowly } = await openLists();
  const answered = Promise.withResolvers<void>();
  const { seen } = await requestSlowly('user-operations', answered.promise);
  expect(await request('factories', wrongKey)).toBe('unauthorized');
  answered.resolve();
  expect(await seen).toBe('ok');
  expect(await request('factories', wrongKey)).toBe('unauthorized');
});

test('an answer of something in front of the explorer is never about the key', async () => {
  const { request } = await openLists();
  for (const status of [200, 400, 401, 402, 403, 405]) {
    const answer: Answer = [status, challenge[1]];
    for (const list of ['factories', 'bundlers', 'paymasters']) {
      expect(await request(list, answer), `HTTP ${status}`).toBe('intercepted');
    }
  }
});
