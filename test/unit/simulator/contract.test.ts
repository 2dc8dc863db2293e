import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress } from '../../../simulator/addresses.ts';
import { startSimulator, type SimulatedChain, type Simulator } from '../../../simulator/index.ts';
import { Limiter, type Limits } from '../../../simulator/limit.ts';
import { rankingNames } from '../../../simulator/rankings.ts';

const paths = {
  operations: 'proxy/account-abstraction/operations',
  factories: 'proxy/account-abstraction/factories',
  batch: (number: number | string) => `blocks/optimism-batch/${number}`,
};

const smallChain: SimulatedChain = {
  id: 10,
  name: 'small',
  family: 'optimism',
  generation: 'v12',
  userOperations: 100,
  batches: { first: 7, count: 10, blocks: 60 },
  factories: 130,
};
const chains: SimulatedChain[] = [
  smallChain,
  { ...smallChain, id: 11, generation: 'v11' },
  { ...smallChain, id: 20, family: 'plain' },
  { ...smallChain, id: 21, userOperations: 0, oddities: ['end-absent'] },
  { ...smallChain, id: 22, userOperations: 0, oddities: ['end-empty-object'] },
  { ...smallChain, id: 23, oddities: ['echo-key'] },
  { ...smallChain, id: 24, oddities: ['nul-in-name'] },
];

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ seed: 1, chains, apiKey: 'right' });
});
afterAll(() => simulator.close());

/** A page, or what is said in its place. */
interface Body {
  readonly items: Record<string, unknown>[];
  readonly next_page_params?: Record<string, unknown> | null;
}

async function get(base: string, path: string, query: Record<string, string>) {
  const response = await fetch(`${base}/${path}?${new URLSearchParams(query).toString()}`);
  return { status: response.status, body: (await response.json()) as Body };
}
const ask = (chainId: number, path: string, query: Record<string, string> = {}) =>
  get(`${simulator.url}/${chainId}/api/v2`, path, { apikey: 'right', ...query });

test('a list that ends with a full page has no empty one after it', async () => {
  const first = (await ask(10, paths.operations)).body;
  const page_token = String(first.next_page_params?.['page_token']);
  expect(first.items).toHaveLength(50);
  expect(first.next_page_params).toEqual({ page_token, page_size: 50 });
  const last = (await ask(10, paths.operations, { page_token })).body;
  expect([last.items.length, last.next_page_params]).toEqual([50, null]);
});

test('v12 takes the page size of a batch from items_count, and v11 always returns 50', async () => {
  for (const [chain, served] of [
    [10, 10],
    [11, 50],
  ] as const) {
    const { items, next_page_params } = (await ask(chain, paths.batch(7), { items_count: '10' }))
      .body;
    expect(items).toHaveLength(served);
    const block_number = items.at(-1)?.['height'];
    expect(next_page_params).toEqual(
      chain === 10 ? { block_number } : { block_number, items_count: 50 },
    );
  }
});

test('a cursor of block 0 is read as page 1', async () => {
  expect(await ask(10, paths.batch(7), { block_number: '0' })).toEqual(
    await ask(10, paths.batch(7)),
  );
});

test.each([
  [21, { items: [] }],
  [22, { items: [], next_page_params: {} }],
])('chain %i ends a list in its own odd way', async (chainId, expected) => {
  expect((await ask(chainId, paths.operations)).body).toEqual(expected);
});

test('the secret key is echoed, and a NUL served, only as an oddity', async () => {
  const echoed = await ask(23, paths.factories, { key: 'canary' });
  expect(echoed.body.next_page_params).toMatchObject({ key: 'canary' });
  expect(JSON.stringify(await ask(10, paths.factories, { key: 'canary' }))).not.toContain('canary');
  expect(JSON.stringify(await ask(24, paths.operations))).toContain('\\u0000');
});

// Examples of https://eips.ethereum.org/EIPS/eip-55.
test.each([
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
])('writes %s in the mixed case of EIP-55', (address) => {
  expect(checksumAddress(address.toLowerCase())).toBe(address);
});

test.each([
  [10, 'blocks', 404, { message: 'Not found' }],
  [99, paths.operations, 404, { error: 'Network not supported', source: 'internal' }],
  [20, paths.batch(7), 400, { message: 'Unknown API v2 action' }],
  [20, paths.operations, 501, { error: 'Not implemented', source: 'upstream' }],
  [20, paths.factories, 501, { error: 'Not implemented', source: 'upstream' }],
])('on chain %i answers %s with %i', async (chainId, path, status, body) => {
  expect(await ask(chainId, path)).toMatchObject({ status, body });
});

test('requires a key, and refuses a wrong one', async () => {
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

test('refuses a batch that is not a number', async () => {
  expect(await ask(10, paths.batch('last'))).toMatchObject({ status: 422 });
});

const ranked = rankingNames.map((name) => `proxy/account-abstraction/${name}`);
test.each([paths.operations, ...ranked])('refuses a broken token of %s', async (path) => {
  const answer = await ask(10, path, { page_token: '12,34' });
  expect(answer).toMatchObject({ status: 400, body: { code: 3 } });
});

test('closes during a response, and frees its port', async () => {
  const hangMs = 240_000;
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

test('rate headers state the credits left, or that they are unknown, or are absent', () => {
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
