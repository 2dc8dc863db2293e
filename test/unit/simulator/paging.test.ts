import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../../../simulator/index.ts';
import { truth } from '../../harness/truth/truth.ts';
import { addressHash, get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const seed = 3;
const chains = [
  smallChain,
  { ...smallChain, id: 11, generation: 'v11' as const },
  { ...smallChain, id: 12, userOperations: 100, factories: 50, gaps: [9] },
  { ...smallChain, id: 13, userOperations: 0, factories: 0 },
  { ...smallChain, id: 14, userOperations: 50_000_000, factories: 50_000_000 },
];
let simulator: Simulator;
const at = (chainId: number) => `${simulator.url}/${chainId}/api/v2`;

beforeAll(async () => {
  simulator = await startSimulator({ seed, chains });
});
afterAll(() => simulator.close());

describe('a walk of user operations', () => {
  test.each([1, 7, 23, 46, 50])('in pages of %i holds each once, in order', async (size) => {
    const pages = await walk(at(10), paths.operations, { page_size: String(size) });
    const expected = truth(seed, smallChain, { operations: ['user-operations'] }).user_operations;
    expect(itemsOf(pages).map((item) => item['hash'])).toEqual(expected.map((row) => row['hash']));
    expect(pages).toHaveLength(Math.ceil(230 / size));
    expect(pages.slice(0, -1).every(({ next }) => next?.['page_size'] === size)).toBe(true);
    expect(pages.at(-1)?.next).toBeNull();
  });

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

describe('a walk of factories', () => {
  test.each([1, 13, 50])('in pages of %i holds each once, in order', async (size) => {
    const pages = await walk(at(10), paths.factories, { page_size: String(size) });
    const expected = truth(seed, smallChain, { operations: ['factories'] }).factories;
    const served = itemsOf(pages).map((item) => addressHash(item['address']));
    expect(served).toEqual(expected.map((row) => row['address_hash']));
    expect(pages).toHaveLength(Math.ceil(130 / size));
  });

  test('ends without an empty page at an exact multiple of the page size', async () => {
    expect(await walk(at(12), paths.factories)).toHaveLength(1);
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
