import { describe, expect, test } from 'vitest';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, loadOneByOne, stored } from './loader.ts';

const hash = addressOf(1);

/** What a user operation or a factory prints whatever is true (ens and metadata null, constants). */
const silent = {
  ens_domain_name: null,
  metadata: null,
  is_scam: false,
  reputation: 'ok',
};
const known = { hash, name: 'Vault', is_contract: true, is_verified: true, implementations: [] };
const tags = (...slugs: string[]) => ({ tags: slugs.map((slug) => ({ slug, tagType: 'name' })) });

type Observation = readonly [in_: 'operation' | 'block' | 'factory', address: unknown];

/** One page for each observation of an address, in this order. */
async function see({ pool }: TestDatabase, ...observations: readonly Observation[]): Promise<void> {
  for (const [index, [place, address]] of observations.entries()) {
    const page_id = index + 1;
    if (place === 'operation') {
      const items = [{ hash: hashOf(page_id), address }];
      await loadOneByOne(pool, 'user-operations', [{ page_id, items }]);
    } else if (place === 'factory') {
      const items = [{ address, total_accounts: 1 }];
      await loadOneByOne(pool, 'factories', [{ page_id, items }]);
    } else {
      const items = [{ hash: hashOf(page_id), height: page_id, miner: address }];
      await loadOneByOne(pool, 'optimism-batch-blocks', [{ page_id, items }]);
    }
  }
}

const address = async ({ pool }: TestDatabase) => (await stored(pool, 'addresses', '*'))[0];

describe.each(['operation', 'factory'] as const)('an address seen in a user %s', (place) => {
  test.each([
    ['name', 'Vault', 'Bank'],
    ['name', 'Vault', null],
    ['is_contract', true, false],
    ['is_contract', false, true],
    ['is_verified', true, false],
    ['is_verified', false, true],
    ['proxy_type', 'eip1167', 'eip7702'],
    ['proxy_type', 'eip1167', null],
  ])('tells its %s: %s, then %s', async (field, before, after) => {
    const database = await freshDatabase();
    await see(
      database,
      [place, { ...known, ...silent, [field]: before }],
      [place, { ...known, ...silent, [field]: after }],
    );
    expect(await address(database)).toMatchObject({ [field]: after });
  });

  test.each([
    ['ens_domain_name', { ens_domain_name: 'vault.eth' }, 'vault.eth'],
    ['is_scam', { is_scam: true }, true],
    ['reputation', { reputation: 'scam' }, 'scam'],
  ])('erases no known %s', async (field, told, kept) => {
    const database = await freshDatabase();
    await see(
      database,
      ['block', { ...known, ...silent, ...told }],
      [place, { ...known, ...silent }],
    );
    expect(await address(database)).toMatchObject({ [field]: kept });
  });

  test('tells its implementations, and that there are none any more', async () => {
    const database = await freshDatabase();
    const implementations = [{ address_hash: addressOf(2), name: 'Logic' }];
    await see(database, [place, { ...known, ...silent, implementations }]);
    const columns = 'position, implementation_hash, name';
    expect(await stored(database.pool, 'address_implementations', columns)).toEqual([
      { position: '0', implementation_hash: addressOf(2), name: 'Logic' },
    ]);
    await see(database, [place, known], [place, { ...known, ...silent, implementations: [] }]);
    expect(await stored(database.pool, 'address_implementations', columns)).toEqual([]);
  });

  test('erases no metadata, label or watchlist name', async () => {
    const database = await freshDatabase();
    const label = { address_hash: hash, label: 'l', display_name: 'L' };
    const lists = { private_tags: [label], public_tags: [label], watchlist_names: [label] };
    await see(
      database,
      ['block', { ...known, ...silent, metadata: tags('a', 'b'), ...lists }],
      [place, { ...known, ...silent }],
    );
    const rows = await Promise.all(
      ['address_metadata_tags', 'address_labels', 'address_watchlist_names'].map((table) =>
        stored(database.pool, table, 'address_hash, position'),
      ),
    );
    expect(rows.map(({ length }) => length)).toEqual([2, 2, 1]);
  });
});

describe('an address seen as the miner of a block', () => {
  test('tells its ens name and metadata when they are not null', async () => {
    const database = await freshDatabase();
    await see(
      database,
      ['block', { ...known, ens_domain_name: 'old.eth', metadata: tags('a', 'b') }],
      ['block', { ...known, ens_domain_name: 'new.eth', metadata: tags('c') }],
    );
    expect(await address(database)).toMatchObject({ ens_domain_name: 'new.eth' });
    expect(await stored(database.pool, 'address_metadata_tags', 'position, slug')).toEqual([
      { position: '0', slug: 'c' },
    ]);
  });

  test('erases no ens name, metadata, label or watchlist name with null and empty lists', async () => {
    const database = await freshDatabase();
    const label = { address_hash: hash, label: 'l', display_name: 'L' };
    const told = {
      ens_domain_name: 'vault.eth',
      metadata: tags('a'),
      private_tags: [label],
      public_tags: [label],
      watchlist_names: [label],
    };
    const empty = { private_tags: [], public_tags: [], watchlist_names: [] };
    await see(
      database,
      ['block', { ...known, ...told }],
      ['block', { ...known, ...silent, ...empty }],
    );
    expect(await address(database)).toMatchObject({ ens_domain_name: 'vault.eth' });
    const rows = await Promise.all(
      ['address_metadata_tags', 'address_labels', 'address_watchlist_names'].map((table) =>
        stored(database.pool, table, 'address_hash, position'),
      ),
    );
    expect(rows.map(({ length }) => length)).toEqual([1, 2, 1]);
  });
});

describe('a stub', () => {
  const stub = { hash, ...silent, is_contract: false, is_verified: null, name: null };
  const full = {
    ...known,
    proxy_type: 'eip1167',
    implementations: [{ address_hash: addressOf(2), name: null }],
  };

  test.each([
    ['a bare hash', hash],
    ['a hash in mixed case', hash.replace('1', '1').toUpperCase().replace('0X', '0x')],
    ['an object that knows nothing', { ...stub, proxy_type: null, implementations: [] }],
  ])('that is %s erases nothing', async (_, shown) => {
    const database = await freshDatabase();
    await see(database, ['operation', full], ['operation', shown]);
    expect(await address(database)).toMatchObject({
      name: 'Vault',
      is_contract: true,
      is_verified: true,
      proxy_type: 'eip1167',
      page_id: '1',
    });
    const rows = await stored(database.pool, 'address_implementations', 'position, page_id');
    expect(rows).toHaveLength(1);
  });

  test('says that the address exists', async () => {
    const database = await freshDatabase();
    await see(database, ['operation', hash]);
    expect(await address(database)).toMatchObject({
      hash,
      name: null,
      is_contract: null,
      is_verified: null,
      is_scam: null,
      reputation: null,
    });
  });

  test.each([
    ['is_scam', true],
    ['reputation', 'scam'],
  ])('that has a %s of %s says so', async (field, told) => {
    const database = await freshDatabase();
    await see(database, ['operation', known], ['operation', { ...stub, [field]: told }]);
    expect(await address(database)).toMatchObject({ [field]: told, name: 'Vault' });
  });
});
