import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, loadOneByOne, stored, type ServedPage } from './loader.ts';

const blockAt = (page_id: number, height: number, hash: number): ServedPage => ({
  page_id,
  items: [{ hash: hashOf(hash), height }],
});

test('a hash that another one replaces at its height is recorded, with the page that said so', async () => {
  const { pool } = await freshDatabase();

  await loadOneByOne(pool, 'optimism-batch-blocks', [blockAt(1, 7, 70), blockAt(2, 7, 71)]);

  expect(await stored(pool, 'block_reorgs', 'height, old_hash, new_hash, page_id')).toEqual([
    { height: '7', old_hash: hashOf(70), new_hash: hashOf(71), page_id: '2' },
  ]);
});

test('the same hash again is no reorganisation, nor is an older page that comes late', async () => {
  const { pool } = await freshDatabase();

  await loadOneByOne(pool, 'optimism-batch-blocks', [
    blockAt(2, 7, 70),
    blockAt(3, 7, 70),
    blockAt(1, 7, 69),
  ]);

  expect(await stored(pool, 'block_reorgs', 'height')).toEqual([]);
});
