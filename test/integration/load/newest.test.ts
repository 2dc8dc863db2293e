import { describe, expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, load, loadOneByOne, stored, type ServedPage } from './loader.ts';

const operation = (page_id: number, status: boolean, name: string): ServedPage => ({
  page_id,
  items: [
    {
      hash: hashOf(1),
      status,
      address: { hash: addressOf(1), name, is_verified: true },
    },
  ],
});

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

describe('a page that is committed after a newer one', () => {
  test('changes no row that the newer one wrote', async () => {
    const { pool } = await freshDatabase();
    await loadOneByOne(pool, 'user-operations', [
      operation(5, true, 'new'),
      operation(3, false, 'old'),
    ]);
    expect(await stored(pool, 'user_operations', 'status, page_id')).toEqual([
      { status: true, page_id: '5' },
    ]);
  });

  test('changes no address that the newer one told', async () => {
    const { pool } = await freshDatabase();
    await loadOneByOne(pool, 'user-operations', [
      operation(5, true, 'new'),
      operation(3, false, 'old'),
    ]);
    expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([
      { name: 'new', page_id: '5' },
    ]);
  });

  test.each([
    ['block_rewards', 'position, reward', [{ position: '0', reward: '1' }]],
    ['block_uncles', 'position, hash', [{ position: '0', hash: hashOf(200) }]],
    ['block_arbitrum', 'block_height, status', [{ block_height: '7', status: 'block 2' }]],
  ])(
    'leaves the parts of a block in %s as the newer one showed them',
    async (table, columns, rows) => {
      const { pool } = await freshDatabase();
      await loadOneByOne(pool, 'optimism-batch-blocks', [
        block(5, 2, ['1']),
        block(3, 1, ['8', '9']),
      ]);
      expect(await stored(pool, table, columns)).toEqual(rows);
    },
  );

  test('does not bring back a part that the newer one took away', async () => {
    const { pool } = await freshDatabase();
    await loadOneByOne(pool, 'optimism-batch-blocks', [
      block(1, 1, ['8', '9']),
      block(5, 1, []),
      block(3, 1, ['8', '9']),
    ]);
    expect(await stored(pool, 'block_rewards', 'position, reward')).toEqual([]);
  });
});

describe('an observation of an address that is committed after a newer one', () => {
  const miner = { hash: addressOf(1), name: 'Vault', is_verified: true };
  const metadata = { tags: [{ slug: 'a' }, { slug: 'b' }] };
  const asMiner = (page_id: number, told: object): ServedPage => ({
    page_id,
    items: [{ hash: hashOf(page_id), height: page_id, miner: { ...miner, ...told } }],
  });
  const asSender = (page_id: number, address: unknown): ServedPage => ({
    page_id,
    items: [{ hash: hashOf(page_id), address }],
  });

  test('still tells the lists of which the newer one said nothing', async () => {
    const { pool } = await freshDatabase();
    await load(pool, 'user-operations', [asSender(5, miner)]);
    await load(pool, 'optimism-batch-blocks', [asMiner(3, { metadata })]);
    expect(await stored(pool, 'address_metadata_tags', 'slug')).toEqual([
      { slug: 'a' },
      { slug: 'b' },
    ]);
  });

  test('still tells all where the newer one was a bare hash', async () => {
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
    ['changes', [{ slug: 'c' }, { slug: 'd' }, { slug: 'e' }]],
    ['shortens', [{ slug: 'a' }]],
    ['lengthens', [{ slug: 'a' }, { slug: 'b' }, { slug: 'c' }]],
  ])('leaves a list that the newer one %s', async (_, tags) => {
    const { pool } = await freshDatabase();
    await loadOneByOne(pool, 'optimism-batch-blocks', [
      asMiner(1, { metadata }),
      asMiner(5, { metadata: { tags } }),
      asMiner(3, { metadata }),
    ]);
    expect(await stored(pool, 'address_metadata_tags', 'slug')).toEqual(tags);
  });

  test('still tells a reputation that the newer one passed over with its constant', async () => {
    const { pool } = await freshDatabase();
    await load(pool, 'user-operations', [asSender(5, { ...miner, reputation: 'ok' })]);
    await load(pool, 'optimism-batch-blocks', [asMiner(3, { reputation: 'scam' })]);
    expect(await stored(pool, 'addresses', 'reputation')).toEqual([{ reputation: 'scam' }]);
  });
});

describe('a page that is committed after an older one', () => {
  test('changes the rows that differ and says which page did', async () => {
    const { pool } = await freshDatabase();
    await loadOneByOne(pool, 'user-operations', [
      operation(3, false, 'old'),
      operation(5, true, 'new'),
    ]);
    expect(await stored(pool, 'user_operations', 'status, page_id')).toEqual([
      { status: true, page_id: '5' },
    ]);
    expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([
      { name: 'new', page_id: '5' },
    ]);
  });

  test('touches no row that is equal', async () => {
    const { pool } = await freshDatabase();
    await load(pool, 'optimism-batch-blocks', [block(3, 1, ['8', '9'])]);
    const columns = 'xmin::text, page_id, updated_at';
    const tables = ['blocks', 'block_rewards', 'block_uncles'];
    const read = () => Promise.all(tables.map((table) => stored(pool, table, columns)));
    const before = await read();
    await load(pool, 'optimism-batch-blocks', [block(5, 1, ['8', '9'])]);
    expect(await read()).toEqual(before);
  });
});

describe('pages of one transaction', () => {
  test('leave an item that stands in two of them as the newer one shows it', async () => {
    const { pool } = await freshDatabase();
    await load(pool, 'user-operations', [operation(3, false, 'old'), operation(5, true, 'new')]);
    expect(await stored(pool, 'user_operations', 'status, page_id')).toEqual([
      { status: true, page_id: '5' },
    ]);
  });

  test('leave an address as the newest of them shows it, whichever items repeat', async () => {
    const { pool } = await freshDatabase();
    const sender = (name: string) => ({ hash: addressOf(1), name, is_verified: true });
    await load(pool, 'user-operations', [
      {
        page_id: 3,
        items: [
          { hash: hashOf(1), address: sender('old') },
          { hash: hashOf(2), address: sender('old') },
        ],
      },
      { page_id: 5, items: [{ hash: hashOf(1), address: sender('new') }] },
    ]);
    expect(await stored(pool, 'addresses', 'name, page_id')).toEqual([
      { name: 'new', page_id: '5' },
    ]);
  });

  test('lose nothing that only the older observation of a repeated item told', async () => {
    const { pool } = await freshDatabase();
    const miner = { hash: addressOf(1), name: 'known', is_verified: true };
    await load(pool, 'optimism-batch-blocks', [
      { page_id: 3, items: [{ hash: hashOf(1), height: 7, miner }] },
      { page_id: 5, items: [{ hash: hashOf(1), height: 7, miner: addressOf(1) }] },
    ]);
    expect(await stored(pool, 'addresses', 'hash, name')).toEqual([
      { hash: addressOf(1), name: 'known' },
    ]);
  });
});
