import { describe, expect, test } from 'vitest';
import type { OperationName } from '../../../src/lists/registry.ts';
import {
  addressOf,
  hashOf,
  load,
  loadBeside,
  loadOneByOne,
  sharedPlaces,
  stored,
} from './loader.ts';

const fresh = sharedPlaces();

/** How two pages meet: in transactions of their own, or in one. */
const ways = [
  ['after', loadOneByOne],
  ['with', load],
  ['beside', loadBeside],
] as const;

const largest = String(2n ** 256n - 1n);

describe.each(ways)('%s the page that reported it,', (_, bring) => {
  /** Loads an item, and then the same item as another page shows it. */
  const readTwice = async (list: OperationName, first: object, second: object) => {
    const { pool, chain } = fresh();
    const pages = [first, second].map((item, at) => ({ page_id: at + 1, items: [item] }));
    await bring(pool, list, pages, chain);
    return (table: string, columns: string) => stored(pool, table, columns, chain);
  };

  describe('a user operation', () => {
    const operation = {
      hash: hashOf(1),
      block_number: '7',
      transaction_hash: hashOf(8),
      fee: largest,
      status: true,
      timestamp: '2026-01-02T03:04:05.123456Z',
      address: addressOf(1),
    };
    const readAgain = async (change: object) => {
      const of = await readTwice('user-operations', operation, { ...operation, ...change });
      const [row] = await of(
        'user_operations',
        'block_number, transaction_hash, fee, status, timestamp::text, address_hash, page_id, extra',
      );
      return row;
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
      { fee: '1E+18', transaction_hash: '0x', block_number: '0x10' },
      { timestamp: 'yesterday', status: 'true', address: 'nobody', fee: '-1' },
      { block_number: -1, transaction_hash: 5 },
    ])('keeps the known values if it has %j', async (change) => {
      const row = await readAgain(change);
      expect(row).toMatchObject(known);
      expect(Object.keys(row?.['extra'] ?? {})).toHaveLength(Object.keys(change).length);
    });

    test('loses a value that becomes null', async () => {
      expect(await readAgain({ fee: null })).toMatchObject({ ...known, fee: null });
    });

    test.each([{ block_number: '9' }, { transaction_hash: hashOf(9) }])(
      'at another position keeps no earlier value: %j',
      async (change) => {
        expect(await readAgain({ ...change, fee: 'x' })).toMatchObject({ fee: null });
      },
    );
  });

  describe('a block', () => {
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
      gas_used: '0x5',
      miner: '0x',
      rewards: [{ reward: 'x', type: 'a' }, { reward: '3' }],
      uncles_hashes: [null, { hash: hashOf(7) }],
      arbitrum: { status: 'Sent to base', send_count: -1 },
    };
    const readAgain = async (change: object) => {
      const of = await readTwice('optimism-batch-blocks', block, { ...block, ...change });
      return {
        blocks: await of('blocks', 'gas_used, miner_hash'),
        rewards: await of('block_rewards', 'position, reward, type'),
        uncles: await of('block_uncles', 'position, hash'),
        arbitrum: await of('block_arbitrum', 'status, send_count'),
      };
    };

    test('keeps the known values of the same block', async () => {
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
      const change = { rewards: 'none', uncles_hashes: {}, arbitrum: 5 };
      const { rewards, uncles, arbitrum } = await readAgain(change);
      expect([rewards.length, uncles.length, arbitrum.length]).toEqual([2, 2, 1]);
    });

    test('keeps nothing of a block with another hash', async () => {
      const change = { ...bent, hash: hashOf(2), rewards: 5, arbitrum: 5 };
      expect(await readAgain(change)).toEqual({
        blocks: [{ gas_used: null, miner_hash: null }],
        rewards: [],
        uncles: [{ position: '1', hash: hashOf(7) }],
        arbitrum: [],
      });
    });
  });

  describe('an address', () => {
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
      const [first, second] = [address, { ...address, ...change }].map((shown) => ({
        address: shown,
        total_accounts: 1,
      }));
      const of = await readTwice('factories', first ?? {}, second ?? {});
      return {
        addresses: await of('addresses', 'name, is_contract, is_verified, proxy_type'),
        implementations: await of(
          'address_implementations',
          'position, implementation_hash as address_hash, name',
        ),
        tags: await of('address_metadata_tags', 'slug'),
        labels: await of('address_labels', 'label'),
      };
    };
    const implementation = (position: number, n: number, name: string | null) => ({
      position: String(position),
      address_hash: addressOf(n),
      name,
    });
    const known = {
      addresses: [{ name: 'Vault', is_contract: true, is_verified: true, proxy_type: 'eip1967' }],
      implementations: [implementation(0, 2, 'A'), implementation(1, 3, 'B')],
      tags: [{ slug: 'a' }, { slug: 'b' }],
      labels: [{ label: 'a' }, { label: 'b' }],
    };

    test.each([
      { name: 5, is_contract: 'true', is_verified: 1 },
      { name: ['a'], proxy_type: {}, is_contract: null },
      { implementations: 'none', metadata: 5, public_tags: {} },
      { metadata: { tags: 'none' }, implementations: [null, { address_hash: '0x', name: 'B' }] },
      { metadata: { tags: [null, { slug: 'b' }] }, public_tags: [null, 5] },
    ])('keeps the known values if it has %j', async (change) => {
      expect(await seeAgain(change)).toEqual(known);
    });

    test.each([
      [
        'keeps implementations beside one that cannot be read',
        [null, { address_hash: addressOf(4), name: 'C' }, null],
        [implementation(0, 2, 'A'), implementation(1, 4, 'C')],
      ],
      [
        'takes no value of one implementation for another',
        [{ address_hash: addressOf(4), name: 5 }],
        [implementation(0, 4, null)],
      ],
    ])('%s', async (_name, implementations, expected) => {
      expect((await seeAgain({ implementations })).implementations).toEqual(expected);
    });
  });

  test('a list that is read under its older name replaces the known one, whatever the newer name has', async () => {
    const batch = { number: 1, l1_timestamp: '2026-01-02T03:04:05Z' };
    const of = await readTwice(
      'optimism-batches',
      { ...batch, l1_transaction_hashes: [hashOf(1), hashOf(2)] },
      { ...batch, l1_transaction_hashes: 'none', l1_tx_hashes: [hashOf(3)] },
    );
    expect(await of('optimism_batch_l1_transactions', 'position, hash')).toEqual([
      { position: '0', hash: hashOf(3) },
    ]);
  });

  test('an invalid count of accounts keeps the known one', async () => {
    const counted = (total_accounts: number) => ({ address: addressOf(1), total_accounts });
    const of = await readTwice('factories', counted(5), counted(-5));
    expect(await of('factories', 'total_accounts')).toEqual([{ total_accounts: '5' }]);
  });
});
