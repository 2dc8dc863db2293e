import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../../simulator/index.ts';
import { get, paths, smallChain } from './walk.ts';
import { hangMs } from '../../harness/hang.ts';

let simulator: Simulator;
const seen: string[] = [];

beforeAll(async () => {
  simulator = await startSimulator({
    seed: 1,
    chains: [smallChain, { ...smallChain, id: 20, family: 'plain' }],
    apiKey: 'right',
    onRequest: ({ chainId, operation, status, items }) => {
      seen.push(`${chainId} ${operation} ${status} ${items}`);
    },
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

test('asks for a key', async () => {
  const error = 'Proceed with API key or make a X402 payment to continue';
  const { status, body } = await get(`${simulator.url}/10/api/v2`, paths.operations);
  expect({ status, body }).toEqual({ status: 402, body: { error } });
});

test('turns a wrong key away', async () => {
  const answer = await ask(10, paths.operations, { apikey: 'wrong' });
  expect(answer).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
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

test.each([paths.operations, paths.factories])('refuses a broken token of %s', async (path) => {
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
