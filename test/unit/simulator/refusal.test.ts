import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../../simulator/index.ts';
import { Limiter, type Limits } from '../../../simulator/limit.ts';
import { get, paths, smallChain } from './walk.ts';
import { hangMs } from '../../harness/hang.ts';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    seed: 1,
    chains: [smallChain, { ...smallChain, id: 20, family: 'plain' }],
    apiKey: 'right',
  });
});
afterAll(() => simulator.close());

const ask = (chainId: number, path: string, query: Record<string, string> = {}) =>
  get(`${simulator.url}/${chainId}/api/v2`, path, { apikey: 'right', ...query });

test.each([
  [10, 'blocks', 404, { message: 'Not found' }],
  [99, paths.operations, 404, { error: 'Network not supported', source: 'internal' }],
  [20, paths.batch(7), 400, { message: 'Unknown API v2 action' }],
  [20, paths.operations, 501, { error: 'Not implemented', source: 'upstream' }],
  [20, paths.factories, 501, { error: 'Not implemented', source: 'upstream' }],
])('on chain %i answers %s with %i', async (chainId, path, status, body) => {
  expect(await ask(chainId, path)).toMatchObject({ status, body });
});

test('asks for a key, and turns a wrong one away', async () => {
  const error = 'Proceed with API key or make a X402 payment to continue';
  expect(await ask(10, paths.operations, { apikey: '' })).toMatchObject({
    status: 402,
    body: { error },
  });
  expect(await ask(10, paths.operations, { apikey: 'wrong' })).toMatchObject({
    status: 401,
    body: { error: 'Unauthorized' },
  });
});

test.each([
  [paths.operations, 'page_size', '0'],
  [paths.operations, 'page_size', '51'],
  [paths.factories, 'page_size', 'ten'],
  [paths.factories, 'items_count', '5'],
  [paths.operations, 'surprise', '1'],
  [paths.batch(7), 'page_token', 'x'],
  [paths.batch(7), 'items_count', '0'],
  [paths.batch(7), 'block_number', '-1'],
  [paths.batch(7), 'block_number', '1.5'],
])('refuses %s with %s=%s by name', async (path, name, value) => {
  const { status, body } = await ask(10, path, { [name]: value });
  expect(status).toBe(422);
  expect(body).toEqual({
    errors: [
      {
        title: 'Invalid value',
        source: { pointer: `/${name}` },
        detail: expect.any(String) as string,
      },
    ],
  });
});

test('refuses a batch that is no number', async () => {
  expect(await ask(10, paths.batch('last'))).toMatchObject({ status: 422 });
});

const ranked = [paths.operations, paths.factories, paths.bundlers, paths.paymasters];
test.each(ranked)('refuses a broken token of %s', async (path) => {
  const answer = await ask(10, path, { page_token: '12,34' });
  expect(answer).toMatchObject({ status: 400, body: { code: 3 } });
});

test('closes while an answer waits, and frees its port', async () => {
  const slow = await startSimulator({ seed: 1, chains: [smallChain], latencyMs: 2 * hangMs });
  const waiting = get(`${slow.url}/10/api/v2`, paths.factories, { apikey: 'simulated-key' });
  const outcome = waiting.then(
    () => 'answered',
    () => 'cut',
  );
  await expect.poll(() => slow.requests, { timeout: hangMs }).toBe(1);
  await slow.close();
  expect(await outcome).toBe('cut');
  const port = Number(new URL(slow.url).port);
  const next = await startSimulator({ seed: 1, chains: [smallChain], port });
  await next.close();
});

const noon = Date.parse('2026-11-21T12:00:00Z');
const nextDay = 12 * 3_600_000;

test.each<[string, Limits, (readonly [number, string])[]]>([
  [
    'one more than the limit is let in within any second, the next is throttled',
    { requestsPerSecond: 2 },
    [
      [0, 'let-in'],
      [500, 'let-in'],
      [900, 'let-in'],
      [999, 'throttled'],
      [1001, 'let-in'],
    ],
  ],
  [
    'credits are those of a day in UTC',
    { dailyCredits: 40 },
    [
      [0, 'let-in'],
      [1, 'let-in'],
      [2, 'out-of-credits'],
      [nextDay - 1, 'out-of-credits'],
      [nextDay, 'let-in'],
    ],
  ],
])('%s', (_, limits, requests) => {
  const limiter = new Limiter();
  for (const [ms, verdict] of requests) {
    expect(limiter.admit(noon + ms, limits).verdict, `${ms} ms after noon`).toBe(verdict);
  }
});

test('the headers say what is left, nothing, or that it is unknown', () => {
  const headersOf = (headers: NonNullable<Limits['headers']>) =>
    new Limiter().admit(noon, { requestsPerSecond: 5, dailyCredits: 100, headers }).headers;
  expect(headersOf('stated')).toEqual({
    'x-ratelimit-limit': 5,
    'x-ratelimit-remaining': 4,
    'x-ratelimit-reset': 1000,
    'x-credits-remaining': 80,
  });
  expect(headersOf('absent')).toEqual({});
  expect(new Set(Object.values(headersOf('unknown')))).toEqual(new Set([-1]));
});
