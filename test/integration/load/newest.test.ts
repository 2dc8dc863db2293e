import { describe, expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, load, loadOneByOne, stored, type ServedPage } from './loader.ts';

const operation = (page_id: number, status: boolean, name: string): ServedPage => ({
  page_id,
  items: [{ hash: hashOf(1), status, address: { hash: addressOf(1), name, is_verified: true } }],
});
const [older, newer] = [operation(3, false, 'old'), operation(5, true, 'new')];

const block = (page_id: number, hash: number, rewards: readonly string[]): ServedPage => ({
  page_id,
  items: [
    {
      hash: hashOf(hash),
      height: 7,
      rewards: rewards.map((reward) => ({ reward, type: 'Miner' })),
      uncles_hashes: rewards.map((_, position) => ({ hash: hashOf(hash * 100 + position) })),
      arbitrum: { status: `block ${hash}` },
    },
  ],
});

test.each([
  [
    'a page that is committed after a newer one changes no row that the newer one wrote',
    [newer, older],
  ],
  [
    'a page that is committed after an older one changes the rows that differ, and their page',
    [older, newer],
  ],
])('%s', async (_, pages) => {
  const { pool } = await freshDatabase();

  await loadOneByOne(pool, 'user-operations', pages);

  expect(await stored(pool, 'user_operations', 'status, page_id')).toEqual([
    { status: true, page_id: '5' },
  ]);
  expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([{ name: 'new', page_id: '5' }]);
});

test.each([
  ['fills the block that the newer one left out', '', '7'],
  [
    'fills none of a row that is removed',
    'update explorer.user_operations set removed_at = now()',
    null,
  ],
])('a page that is committed after a newer one %s', async (_, meanwhile, block_number) => {
  const { pool } = await freshDatabase();
  const shown = (page_id: number, place: object): ServedPage => ({
    page_id,
    items: [{ hash: hashOf(1), ...place }],
  });
  await load(pool, 'user-operations', [shown(5, {})]);
  await pool.query(meanwhile);

  await load(pool, 'user-operations', [shown(3, { block_number: 7 })]);

  expect(await stored(pool, 'user_operations', 'block_number')).toEqual([{ block_number }]);
});

test('a page that is committed after a newer one does not change the child rows of a block', async () => {
  const { pool } = await freshDatabase();

  await loadOneByOne(pool, 'optimism-batch-blocks', [block(5, 2, ['1']), block(3, 1, ['8', '9'])]);

  expect(await stored(pool, 'block_rewards', 'position, reward')).toEqual([
    { position: '0', reward: '1' },
  ]);
  expect(await stored(pool, 'block_uncles', 'position, hash')).toEqual([
    { position: '0', hash: hashOf(200) },
  ]);
  expect(await stored(pool, 'block_arbitrum', 'block_height, status')).toEqual([
    { block_height: '7', status: 'block 2' },
  ]);
});

test('a page that is committed after a newer one does not restore child rows that it deleted', async () => {
  const { pool } = await freshDatabase();

  await loadOneByOne(pool, 'optimism-batch-blocks', [
    block(1, 1, ['8', '9']),
    block(5, 1, []),
    block(3, 1, ['8', '9']),
  ]);

  expect(await stored(pool, 'block_rewards', 'position, reward')).toEqual([]);
});

test('a bare hash on a later page of the same transaction is no newer observation', async () => {
  const { pool } = await freshDatabase();
  const bare = { hash: hashOf(2), address: addressOf(1) };
  await load(pool, 'user-operations', [older, { page_id: 4, items: [bare] }]);
  expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([{ name: 'old', page_id: '3' }]);
  // As an older version left it, which did not read the name.
  await pool.query('update explorer.addresses set name = null');

  await load(pool, 'user-operations', [older]);

  expect(await stored(pool, 'addresses', 'name')).toEqual([{ name: 'old' }]);
});

test.each([
  ['another name', 4, { name: 'new', page_id: '5' }],
  ['no name', 4, { name: 'new', page_id: '5' }],
  ['another name', 2, { name: 'new', page_id: '3' }],
  ['another name', 6, { name: 'other', page_id: '6' }],
] as const)(
  'an address that pages 3 and 5 of a transaction show alike, and %s on page %i before, is that of the newest page',
  async (what, page_id, expected) => {
    const { pool } = await freshDatabase();
    const name = what === 'no name' ? null : 'other';
    const address = { hash: addressOf(1), name, is_verified: true };
    await load(pool, 'user-operations', [{ page_id, items: [{ hash: hashOf(2), address }] }]);

    await load(pool, 'user-operations', [operation(3, false, 'new'), newer]);

    expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([expected]);
  },
);

test('an item that a page adds, and a later page of the same transaction changes, counts for each once', async () => {
  const { pool } = await freshDatabase();
  const counts = await load(pool, 'user-operations', [older, newer, operation(6, true, 'new')]);
  expect([...counts]).toEqual([
    [3, { inserted: 1, changed: 0 }],
    [5, { inserted: 0, changed: 1 }],
  ]);
});

test('a page does not write rows that are equal', async () => {
  const { pool } = await freshDatabase();
  await load(pool, 'optimism-batch-blocks', [block(3, 1, ['8', '9'])]);
  const columns = 'xmin::text, page_id, updated_at';
  const tables = ['blocks', 'block_rewards', 'block_uncles'];
  const read = () => Promise.all(tables.map((table) => stored(pool, table, columns)));
  const before = await read();

  await load(pool, 'optimism-batch-blocks', [block(5, 1, ['8', '9'])]);

  expect(await read()).toEqual(before);
});

describe('an observation of an address that is committed after a newer one', () => {
  const miner = { hash: addressOf(1), name: 'Vault', is_verified: true };
  const metadata = { tags: [{ slug: 'a' }, { slug: 'b' }] };
  const asMiner = (page_id: number, says: object): ServedPage => ({
    page_id,
    items: [{ hash: hashOf(page_id), height: page_id, miner: { ...miner, ...says } }],
  });
  const asSender = (page_id: number, address: unknown): ServedPage => ({
    page_id,
    items: [{ hash: hashOf(page_id), address }],
  });

  test('still reports the lists and the reputation that the newer one lacks', async () => {
    const { pool } = await freshDatabase();
    // The reputation that a sender shows is a constant.
    await load(pool, 'user-operations', [asSender(5, { ...miner, reputation: 'ok' })]);
    await load(pool, 'optimism-batch-blocks', [asMiner(3, { metadata, reputation: 'scam' })]);
    expect(await stored(pool, 'address_metadata_tags', 'slug')).toEqual(metadata.tags);
    expect(await stored(pool, 'addresses', 'reputation')).toEqual([{ reputation: 'scam' }]);
  });

  test('still reports everything if the newer one was a bare hash', async () => {
    const { pool } = await freshDatabase();
    const implementations = [{ address_hash: addressOf(2) }];
    await load(pool, 'user-operations', [asSender(5, miner.hash)]);
    await load(pool, 'user-operations', [asSender(3, { ...miner, implementations })]);
    expect(await stored(pool, 'addresses', 'name')).toEqual([{ name: 'Vault' }]);
    expect(await stored(pool, 'address_implementations', 'implementation_hash')).toEqual([
      { implementation_hash: addressOf(2) },
    ]);
  });

  test.each([
    ['changes', ['c', 'd', 'e']],
    ['shortens', ['a']],
    ['lengthens', ['a', 'b', 'c']],
  ])('leaves a list that the newer one %s', async (_, slugs) => {
    const { pool } = await freshDatabase();
    const tags = slugs.map((slug) => ({ slug }));
    await loadOneByOne(pool, 'optimism-batch-blocks', [
      asMiner(1, { metadata }),
      asMiner(5, { metadata: { tags } }),
      asMiner(3, { metadata }),
    ]);
    expect(await stored(pool, 'address_metadata_tags', 'slug')).toEqual(tags);
  });
});
