import { expect, test } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { quarantined, truth } from '../../truth/truth.ts';
import { paths, smallChain, walk } from './walk.ts';

const seed = 5;

test('hashes are unique among thirty thousand operations', () => {
  const { user_operations } = truth(
    seed,
    { ...smallChain, userOperations: 30_000 },
    { operations: ['user-operations'] },
  );
  expect(new Set(user_operations.map((row) => row['hash'])).size).toBe(30_000);
});

test('the same seed serves the same bytes, another seed other ones', async () => {
  const texts: string[] = [];
  for (const own of [1, 1, 2]) {
    const simulator = await startSimulator({ seed: own, chains: [smallChain] });
    texts.push(JSON.stringify(await walk(`${simulator.url}/10/api/v2`, paths.operations)));
    await simulator.close();
  }
  expect(texts[0]).toBe(texts[1]);
  expect(texts[0]).not.toBe(texts[2]);
});

test('a scope of the newest operations is the head of the list', () => {
  const all = truth(seed, smallChain, { operations: ['user-operations'] });
  const some = truth(seed, smallChain, {
    operations: ['user-operations'],
    userOperations: { newest: 60 },
  });
  expect(some.user_operations).toEqual(all.user_operations.slice(0, 60));
  expect(some.addresses.length).toBeLessThan(all.addresses.length);
  expect(some.blocks).toEqual([]);
  expect(some.factories).toEqual([]);
});

test('a scope of batches holds their blocks, and says which are empty', () => {
  const chain = { ...smallChain, holes: [9] };
  const tables = truth(seed, chain, {
    operations: ['optimism-batch-blocks'],
    batches: { from: 8, to: 9 },
  });
  const [full, empty] = tables.read_batches;
  expect(full).toMatchObject({
    batch_number: 8,
    state: 'open',
    is_contiguous: true,
    is_linked: true,
  });
  expect(empty).toMatchObject({
    batch_number: 9,
    state: 'empty',
    blocks_count: 0,
    is_linked: null,
  });
  expect(tables.blocks).toHaveLength(Number(full?.['blocks_count']));
});

test('a block without hash breaks its batch in two', () => {
  const chain = { ...smallChain, oddities: ['missing-hash'] as const };
  const broken = truth(seed, chain).read_batches.filter((row) => row['is_contiguous'] === false);
  expect(broken.length).toBeGreaterThan(0);
  expect(broken.every((row) => row['is_linked'] === false)).toBe(true);
  expect(quarantined(seed, smallChain)).toBe(0);
});

test('labels are hidden without the secret key', () => {
  const { address_labels, address_watchlist_names } = truth(seed, smallChain);
  expect([...address_labels, ...address_watchlist_names]).toEqual([]);
});

test('an address seen only as a bare string has nothing but its hash', () => {
  const { addresses } = truth(seed, smallChain);
  const bare = addresses.filter((row) => row['reputation'] === null);
  expect(bare.length).toBeGreaterThan(0);
  for (const row of bare) {
    const { chain_id: _, hash: __, ...facts } = row;
    expect(Object.values(facts).every((value) => value === null)).toBe(true);
  }
});

test('a plain chain has no lists', () => {
  const { chains, ...lists } = truth(seed, { ...smallChain, family: 'plain' });
  expect(chains).toEqual([{ chain_id: 10, name: 'small' }]);
  expect(Object.values(lists).flat()).toEqual([]);
});
