import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, loadOneByOne, stored } from './loader.ts';

const blockWith = (parts: object) => [{ hash: hashOf(1), height: 7, ...parts }];

test('rewards that a block no longer shows are gone, and the rest are its new ones', async () => {
  const { pool } = await freshDatabase();
  const rewards = (...amounts: string[]) =>
    blockWith({ rewards: amounts.map((reward) => ({ reward })) });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: rewards('1', '2', '3') },
    { page_id: 2, items: rewards('9', '2') },
  ]);
  expect(await stored(pool, 'block_rewards', 'position, reward')).toEqual([
    { position: '0', reward: '9' },
    { position: '1', reward: '2' },
  ]);
});

test('a part that did not change keeps the page that wrote it', async () => {
  const { pool } = await freshDatabase();
  const uncles = (...hashes: number[]) =>
    blockWith({ uncles_hashes: hashes.map((n) => ({ hash: hashOf(n) })) });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: uncles(1, 2) },
    { page_id: 2, items: uncles(1, 3) },
  ]);
  expect(await stored(pool, 'block_uncles', 'position, page_id')).toEqual([
    { position: '0', page_id: '1' },
    { position: '1', page_id: '2' },
  ]);
});

test('an arbitrum object that a block no longer has is gone', async () => {
  const { pool } = await freshDatabase();
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: blockWith({ arbitrum: { status: 'Sealed on rollup' } }) },
    { page_id: 2, items: blockWith({ arbitrum: null }) },
  ]);
  expect(await stored(pool, 'block_arbitrum', 'block_height, status')).toEqual([]);
});

test('a block whose parts changed carries the page that changed them', async () => {
  const { pool } = await freshDatabase();
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: blockWith({ rewards: [{ reward: '1' }] }) },
    { page_id: 2, items: blockWith({ rewards: [{ reward: '2' }] }) },
  ]);
  expect(await stored(pool, 'blocks', 'height, page_id')).toEqual([{ height: '7', page_id: '2' }]);
});

test('the parts of one block say nothing of those of another', async () => {
  const { pool } = await freshDatabase();
  const block = (height: number, reward?: string) => ({
    hash: hashOf(height),
    height,
    rewards: reward === undefined ? [] : [{ reward }],
  });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    { page_id: 1, items: [block(7, '1'), block(8, '2')] },
    { page_id: 2, items: [block(7)] },
  ]);
  expect(await stored(pool, 'block_rewards', 'block_height, reward')).toEqual([
    { block_height: '8', reward: '2' },
  ]);
});

test('private and public labels of an address are two sets', async () => {
  const { pool } = await freshDatabase();
  const miner = (lists: object) =>
    blockWith({ miner: { hash: addressOf(1), name: 'm', is_verified: true, ...lists } });
  const tag = (label: string) => ({ address_hash: addressOf(1), label, display_name: label });
  await loadOneByOne(pool, 'optimism-batch-blocks', [
    {
      page_id: 1,
      items: miner({ private_tags: [tag('a'), tag('b')], public_tags: [tag('c'), tag('d')] }),
    },
    { page_id: 2, items: miner({ private_tags: [tag('e')], public_tags: [] }) },
  ]);
  expect(await stored(pool, 'address_labels', 'kind, position, label')).toEqual([
    { kind: 'private', position: '0', label: 'e' },
    { kind: 'public', position: '0', label: 'c' },
    { kind: 'public', position: '1', label: 'd' },
  ]);
});
