import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksumAddress } from '../../../simulator/addresses.ts';
import {
  startSimulator,
  type Oddity,
  type SimulatedChain,
  type Simulator,
} from '../../../simulator/index.ts';
import { truth } from '../../harness/truth/truth.ts';
import { addressHash, get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const seed = 3;
const odd = (id: number, oddity: Oddity, changes: Partial<SimulatedChain> = {}) => ({
  ...smallChain,
  id,
  oddities: [oddity],
  ...changes,
});
const chains: SimulatedChain[] = [
  smallChain,
  { ...smallChain, id: 11, generation: 'v11' },
  { ...smallChain, id: 12, userOperations: 100, factories: 50, gaps: [9] },
  { ...smallChain, id: 13, userOperations: 0, factories: 0 },
  odd(20, 'end-absent', { userOperations: 0 }),
  odd(21, 'end-empty-object', { userOperations: 0 }),
  odd(22, 'echo-key'),
  odd(23, 'nul-in-name'),
];
let simulator: Simulator;
const at = (chainId: number) => `${simulator.url}/${chainId}/api/v2`;

beforeAll(async () => {
  simulator = await startSimulator({ seed, chains });
});
afterAll(() => simulator.close());

const hashOf = (item: Json) => item['hash'];
const addressOf = (item: Json) => addressHash(item['address'] ?? item['address_hash']);
const bundleOf = (item: Json) => [item['transaction_hash'], item['bundle_index']];

describe.each([
  ['user-operations', paths.operations, 'user_operations', hashOf],
  ['factories', paths.factories, 'factories', addressOf],
  ['bundlers', paths.bundlers, 'bundlers', addressOf],
  ['bundles', paths.bundles, 'bundles', bundleOf],
] as const)('a walk of %s', (operation, path, table, keyOf) => {
  test.each([1, 23, 50])('in pages of %i holds each once, in order', async (size) => {
    const pages = await walk(at(10), path, { page_size: String(size) });
    const expected = truth(seed, smallChain, { operations: [operation] })[table];
    expect(itemsOf(pages).map(keyOf)).toEqual(expected.map(keyOf));
    expect(pages).toHaveLength(Math.ceil(expected.length / size));
    expect(pages.slice(0, -1).every(({ next }) => next?.['page_size'] === size)).toBe(true);
    expect(pages.at(-1)?.next).toBeNull();
  });
});

test('user operations and factories are as many as described', () => {
  const { user_operations, factories } = truth(seed, smallChain);
  expect([user_operations.length, factories.length]).toEqual([230, 130]);
});

describe('a walk of user operations', () => {
  test('ends without an empty page at an exact multiple of the page size', async () => {
    const pages = await walk(at(12), paths.operations);
    expect(pages.map(({ items }) => items.length)).toEqual([50, 50]);
  });

  test('can begin at a position that no item has', async () => {
    const token = `105000100,0x${'8'.repeat(64)}`;
    const query = { apikey: 'simulated-key', page_token: token };
    const { body } = await get(at(10), paths.operations, query);
    const served = (body['items'] as Json[]).map((item) => item['hash']);
    const all = truth(seed, smallChain, { operations: ['user-operations'] }).user_operations;
    const below = all.filter(
      (row) => `${String(row['block_number'])},${String(row['hash'])}` <= token,
    );
    expect(served.length).toBeGreaterThan(0);
    expect(served).toEqual(below.slice(0, 50).map((row) => row['hash']));
  });
});

describe('a walk of bundles', () => {
  test('has every operation once, and several bundles of some transactions', () => {
    const { bundles } = truth(seed, smallChain, { operations: ['bundles'] });
    expect(bundles.reduce((sum, row) => sum + Number(row['total_ops']), 0)).toBe(230);
    expect(new Set(bundles.map((row) => row['transaction_hash'])).size).toBeLessThan(
      bundles.length,
    );
  });
});

describe('a walk of batches', () => {
  test('holds every height once, linked by hash over batch borders', async () => {
    const blocks: Json[] = [];
    for (let number = 16; number >= 7; number -= 1) {
      blocks.push(...itemsOf(await walk(at(10), paths.batch(number))));
    }
    expect(blocks).toHaveLength(10 * 50);
    for (const [place, block] of blocks.slice(0, -1).entries()) {
      expect(blocks[place + 1]?.['height']).toBe(Number(block['height']) - 1);
      expect(blocks[place + 1]?.['hash']).toBe(block['parent_hash']);
    }
  });

  test('in v12 takes the page size from items_count, and its cursor is the height alone', async () => {
    const pages = await walk(at(10), paths.batch(7), { items_count: '10' });
    expect(pages[0]?.items).toHaveLength(10);
    expect(pages[0]?.next).toEqual({ block_number: pages[0]?.items.at(-1)?.['height'] });
  });

  test('in v11 always serves 50 and says how many it served', async () => {
    const pages = await walk(at(11), paths.batch(7));
    expect(pages[0]?.items).toHaveLength(50);
    const next = { block_number: pages[0]?.items.at(-1)?.['height'], items_count: 50 };
    expect(pages[0]?.next).toEqual(next);
    const query = { apikey: 'simulated-key', items_count: '10' };
    const { body } = await get(at(11), paths.batch(7), query);
    expect(body['items']).toHaveLength(50);
  });

  test('reads a cursor of 0 as page 1', async () => {
    const query = { apikey: 'simulated-key' };
    const first = await get(at(10), paths.batch(7), query);
    const again = await get(at(10), paths.batch(7), { ...query, block_number: '0' });
    expect(again.body).toEqual(first.body);
  });

  test.each([9, 6, 17, 999_999])(
    'finds batch %i empty, and batches beside a gap meet',
    async (n) => {
      expect(await walk(at(12), paths.batch(n))).toEqual([{ items: [], next: null }]);
      const above = itemsOf(await walk(at(12), paths.batch(10)));
      const below = itemsOf(await walk(at(12), paths.batch(8)));
      expect(above.at(-1)?.['parent_hash']).toBe(below[0]?.['hash']);
    },
  );
});

test.each([
  [20, { items: [] }],
  [21, { items: [], next_page_params: {} }],
] as const)('the oddity of chain %i ends a list so', async (chainId, expected) => {
  const { body } = await get(at(chainId), paths.operations, { apikey: 'simulated-key' });
  expect(body).toEqual(expected);
});

test('the secret key is echoed only under echo-key', async () => {
  const query = { apikey: 'simulated-key', key: 'canary' };
  const echoing = await get(at(22), paths.factories, query);
  const silent = await get(at(10), paths.factories, query);
  expect(echoing.body['next_page_params']).toMatchObject({ key: 'canary' });
  expect(JSON.stringify(silent.body)).not.toContain('canary');
});

test('a NUL in a name is served', async () => {
  expect(JSON.stringify(await walk(at(23), paths.operations))).toContain('\\u0000');
});

// Examples of https://eips.ethereum.org/EIPS/eip-55.
test.each([
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
])('writes %s in the mixed case of EIP-55', (address) => {
  expect(checksumAddress(address.toLowerCase())).toBe(address);
});
