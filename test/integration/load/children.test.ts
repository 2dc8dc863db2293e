import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, loadOneByOne, type ServedPage, stored } from './loader.ts';

/** Loads a block as one page after the other showed it. */
async function shown(...blocks: readonly object[]) {
  const { pool } = await freshDatabase();
  await loadOneByOne(
    pool,
    'optimism-batch-blocks',
    blocks.map((parts, index) => ({
      page_id: index + 1,
      items: [{ hash: hashOf(1), height: 7, ...parts }],
    })),
  );
  return (table: string, columns: string) => stored(pool, table, columns);
}

const rewards = (...amounts: string[]) => ({ rewards: amounts.map((reward) => ({ reward })) });

test('rewards that a block no longer shows are deleted, and the others updated', async () => {
  const of = await shown(rewards('1', '2', '3'), rewards('9', '2'));
  expect(await of('block_rewards', 'position, reward')).toEqual([
    { position: '0', reward: '9' },
    { position: '1', reward: '2' },
  ]);
});

test('a child row that did not change keeps its page, and its block has the page of the last change', async () => {
  const uncles = (...hashes: number[]) => ({
    uncles_hashes: hashes.map((n) => ({ hash: hashOf(n) })),
  });
  const of = await shown(uncles(1, 2), uncles(1, 3));
  expect(await of('block_uncles', 'position, page_id')).toEqual([
    { position: '0', page_id: '1' },
    { position: '1', page_id: '2' },
  ]);
  expect(await of('blocks', 'page_id')).toEqual([{ page_id: '2' }]);
});

test('an arbitrum object that a block no longer has is deleted', async () => {
  const of = await shown({ arbitrum: { status: 'Sealed on rollup' } }, { arbitrum: null });
  expect(await of('block_arbitrum', 'block_height, status')).toEqual([]);
});

test('child rows of one block do not affect those of another', async () => {
  const { pool } = await freshDatabase();
  const block = (height: number, ...amounts: string[]) => ({
    hash: hashOf(height),
    height,
    ...rewards(...amounts),
  });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: [block(7, '1'), block(8, '2')] },
    { page_id: 2, items: [block(7)] },
  ]);
  expect(await stored(pool, 'block_rewards', 'block_height, reward')).toEqual([
    { block_height: '8', reward: '2' },
  ]);
});

test('the last member that leaves by an older page moves the time of an address of a newer one', async () => {
  const { pool } = await freshDatabase();
  const miner = (page_id: number, name: string, implementations: unknown): ServedPage => ({
    page_id,
    items: [
      {
        hash: hashOf(page_id),
        height: page_id,
        miner: { hash: addressOf(1), name, is_verified: true, implementations },
      },
    ],
  });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    miner(1, 'm', [{ address_hash: addressOf(9) }]),
    miner(9, 'n', 'unreadable'),
  ]);
  const of = () => stored(pool, 'addresses', 'page_id, updated_at::text');
  const before = await of();
  expect(before).toMatchObject([{ page_id: '9' }]);
  expect(await stored(pool, 'address_implementations', 'page_id')).toEqual([{ page_id: '1' }]);
  await loadOneByOne(pool, 'optimism-batch-blocks', [miner(5, 'm', [])]);
  expect(await stored(pool, 'address_implementations', 'page_id')).toEqual([]);
  const after = await of();
  expect(after).toMatchObject([{ page_id: '9' }]);
  expect(after).not.toEqual(before);
});

test('private and public labels of an address are two sets', async () => {
  const tags = (...labels: string[]) =>
    labels.map((label) => ({ address_hash: addressOf(1), label, display_name: label }));
  const miner = (private_tags: object[], public_tags: object[]) => ({
    miner: { hash: addressOf(1), name: 'm', is_verified: true, private_tags, public_tags },
  });
  const of = await shown(miner(tags('a', 'b'), tags('c', 'd')), miner(tags('e'), []));
  expect(await of('address_labels', 'kind, position, label')).toEqual([
    { kind: 'private', position: '0', label: 'e' },
    { kind: 'public', position: '0', label: 'c' },
    { kind: 'public', position: '1', label: 'd' },
  ]);
});

test.each([
  ['a hash that replaces another at its height is recorded, with its page', [1, 70], [2, 71], true],
  ['the same hash again is no reorganisation', [1, 70], [2, 70], false],
  ['an older page that is committed later is no reorganisation', [2, 70], [1, 69], false],
] as const)('%s', async (_, first, second, isReorg) => {
  const { pool } = await freshDatabase();
  const pages = [first, second].map(([page_id, hash]) => ({
    page_id,
    items: [{ hash: hashOf(hash), height: 7 }],
  }));
  await loadOneByOne(pool, 'optimism-batch-blocks', pages);
  const reorg = { height: '7', old_hash: hashOf(70), new_hash: hashOf(71), page_id: '2' };
  expect(await stored(pool, 'block_reorgs', 'height, old_hash, new_hash, page_id')).toEqual(
    isReorg ? [reorg] : [],
  );
});
