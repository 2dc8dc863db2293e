import { describe, expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, load, loadOneByOne, stored } from './loader.ts';

/** How two pages meet: in transactions of their own, or in one. */
const ways = [
  ['after', loadOneByOne],
  ['with', load],
] as const;

const largest = String(2n ** 256n - 1n);
const operation = {
  hash: hashOf(1),
  block_number: '7',
  transaction_hash: hashOf(8),
  fee: largest,
  status: true,
  timestamp: '2026-01-02T03:04:05.123456Z',
  address: addressOf(1),
};
const columns =
  'block_number, transaction_hash, fee, status, timestamp::text, address_hash, page_id';

describe.each(ways)('a user operation read %s the page that told it', (_, bring) => {
  const readAgain = async (change: object) => {
    const { pool } = await freshDatabase();
    await bring(pool, 'user-operations', [
      { page_id: 1, items: [operation] },
      { page_id: 2, items: [{ ...operation, ...change }] },
    ]);
    return stored(pool, 'user_operations', `${columns}, extra`);
  };
  const known = {
    block_number: '7',
    transaction_hash: hashOf(8),
    fee: largest,
    status: true,
    timestamp: expect.stringContaining('05.123456'),
    address_hash: addressOf(1),
    page_id: '2',
  };

  test.each([
    { fee: '1E+18' },
    { transaction_hash: '0x' },
    { block_number: '0x10' },
    { timestamp: 'yesterday', status: 'true' },
    { address: 'nobody', fee: '-1' },
    { block_number: -1, transaction_hash: 5 },
  ])('keeps what was known where it says %j', async (change) => {
    const [row] = await readAgain(change);
    expect(row).toMatchObject(known);
    expect(Object.keys(row?.['extra'] ?? {})).toHaveLength(Object.keys(change).length);
  });

  test('loses what it says is null', async () => {
    expect(await readAgain({ fee: null })).toMatchObject([{ ...known, fee: null }]);
  });

  test.each([{ block_number: '9' }, { transaction_hash: hashOf(9) }])(
    'in another place keeps nothing of the one before: %j',
    async (change) => {
      expect(await readAgain({ ...change, fee: 'x' })).toMatchObject([{ fee: null }]);
    },
  );
});

describe.each(ways)('a block read %s the page that told it', (_, bring) => {
  const block = {
    hash: hashOf(1),
    height: 7,
    gas_used: '5',
    miner: addressOf(1),
    rewards: [{ reward: largest, type: 'a' }, { reward: '2' }],
    uncles_hashes: [{ hash: hashOf(5) }, { hash: hashOf(6) }],
    arbitrum: { status: 'Sealed on rollup', send_count: 3 },
  };
  const bent = {
    ...block,
    gas_used: '0x5',
    miner: '0x',
    rewards: [{ reward: 'x', type: 'a' }, { reward: '3' }],
    uncles_hashes: [null, { hash: hashOf(7) }],
    arbitrum: { status: 'Sent to base', send_count: -1 },
  };
  const readAgain = async (again: object) => {
    const { pool } = await freshDatabase();
    await bring(pool, 'optimism-batch-blocks', [
      { page_id: 1, items: [block] },
      { page_id: 2, items: [again] },
    ]);
    return {
      blocks: await stored(pool, 'blocks', 'gas_used, miner_hash'),
      rewards: await stored(pool, 'block_rewards', 'position, reward, type'),
      uncles: await stored(pool, 'block_uncles', 'position, hash'),
      arbitrum: await stored(pool, 'block_arbitrum', 'status, send_count'),
    };
  };

  test('keeps what was known of the same block', async () => {
    expect(await readAgain(bent)).toEqual({
      blocks: [{ gas_used: '5', miner_hash: addressOf(1) }],
      rewards: [
        { position: '0', reward: largest, type: 'a' },
        { position: '1', reward: '3', type: null },
      ],
      uncles: [
        { position: '0', hash: hashOf(5) },
        { position: '1', hash: hashOf(7) },
      ],
      arbitrum: [{ status: 'Sent to base', send_count: '3' }],
    });
  });

  test('keeps whole lists that came as another type', async () => {
    const { rewards, uncles, arbitrum } = await readAgain({
      ...block,
      rewards: 'none',
      uncles_hashes: {},
      arbitrum: 5,
    });
    expect([rewards.length, uncles.length, arbitrum.length]).toEqual([2, 2, 1]);
  });

  test('keeps nothing of a block with another hash', async () => {
    expect(await readAgain({ ...bent, hash: hashOf(2), rewards: 5, arbitrum: 5 })).toEqual({
      blocks: [{ gas_used: null, miner_hash: null }],
      rewards: [],
      uncles: [{ position: '1', hash: hashOf(7) }],
      arbitrum: [],
    });
  });
});

describe.each(ways)('an address seen %s the page that told it', (_, bring) => {
  const address = {
    hash: addressOf(1),
    name: 'Vault',
    is_contract: true,
    is_verified: true,
    proxy_type: 'eip1967',
    implementations: [
      { address_hash: addressOf(2), name: 'A' },
      { address_hash: addressOf(3), name: 'B' },
    ],
    metadata: { tags: [{ slug: 'a' }, { slug: 'b' }] },
    public_tags: [{ label: 'a' }, { label: 'b' }],
  };
  const seeAgain = async (change: object) => {
    const { pool } = await freshDatabase();
    await bring(
      pool,
      'factories',
      [address, { ...address, ...change }].map((told, index) => ({
        page_id: index + 1,
        items: [{ address: told, total_accounts: 1 }],
      })),
    );
    return {
      addresses: await stored(pool, 'addresses', 'name, is_contract, is_verified, proxy_type'),
      implementations: await stored(
        pool,
        'address_implementations',
        'position, implementation_hash, name',
      ),
      tags: await stored(pool, 'address_metadata_tags', 'slug'),
      labels: await stored(pool, 'address_labels', 'label'),
    };
  };
  const known = {
    addresses: [{ name: 'Vault', is_contract: true, is_verified: true, proxy_type: 'eip1967' }],
    implementations: [
      { position: '0', implementation_hash: addressOf(2), name: 'A' },
      { position: '1', implementation_hash: addressOf(3), name: 'B' },
    ],
    tags: [{ slug: 'a' }, { slug: 'b' }],
    labels: [{ label: 'a' }, { label: 'b' }],
  };

  test.each([
    { name: 5 },
    { name: ['a'], proxy_type: {} },
    { is_contract: 'true' },
    { is_contract: null },
    { is_verified: 1 },
    { implementations: 'none', metadata: 5, public_tags: {} },
    { metadata: { tags: 'none' } },
    { implementations: [null, { address_hash: '0x', name: 'B' }] },
    { metadata: { tags: [null, { slug: 'b' }] }, public_tags: [null, 5] },
  ])('keeps what was known where it says %j', async (change) => {
    expect(await seeAgain(change)).toEqual(known);
  });

  test('is told anew by the neighbours of what was not read', async () => {
    const { implementations } = await seeAgain({
      implementations: [null, { address_hash: addressOf(4), name: 'C' }, null],
    });
    expect(implementations).toEqual([
      { position: '0', implementation_hash: addressOf(2), name: 'A' },
      { position: '1', implementation_hash: addressOf(4), name: 'C' },
    ]);
  });

  test('lends nothing of one implementation to another', async () => {
    const { implementations } = await seeAgain({
      implementations: [{ address_hash: addressOf(4), name: 5 }],
    });
    expect(implementations).toEqual([
      { position: '0', implementation_hash: addressOf(4), name: null },
    ]);
  });
});

test('a count of accounts that is none leaves the one that was known', async () => {
  const { pool } = await freshDatabase();
  await loadOneByOne(pool, 'factories', [
    { page_id: 1, items: [{ address: addressOf(1), total_accounts: 5 }] },
    { page_id: 2, items: [{ address: addressOf(1), total_accounts: -5 }] },
  ]);
  expect(await stored(pool, 'factories', 'total_accounts')).toEqual([{ total_accounts: '5' }]);
});
