import { describe, expect, test } from 'vitest';
import type { OperationName } from '../../../src/lists/registry.ts';
import { addressOf, hashOf, loadOneByOne, sharedPlaces, stored } from './loader.ts';

const fresh = sharedPlaces();

const hash = addressOf(0xab);

/** What a user operation or a factory prints whatever is true (ens and metadata null, constants). */
const silent = { ens_domain_name: null, metadata: null, is_scam: false, reputation: 'ok' };
const known = { hash, name: 'Vault', is_contract: true, is_verified: true, implementations: [] };
const tags = (...slugs: string[]) => ({ tags: slugs.map((slug) => ({ slug, tagType: 'name' })) });
const label = { address_hash: hash, label: 'l', display_name: 'L' };
const lists = { private_tags: [label], public_tags: [label], watchlist_names: [label] };

type Observation = readonly [in_: 'operation' | 'block' | 'factory', address: unknown];

/** Where an observation is made: the list, and its item. */
const places = {
  operation: ['user-operations', (n: number, address: unknown) => ({ hash: hashOf(n), address })],
  factory: ['factories', (_: number, address: unknown) => ({ address, total_accounts: 1 })],
  block: [
    'optimism-batch-blocks',
    (n: number, miner: unknown) => ({ hash: hashOf(n), height: n, miner }),
  ],
} as const satisfies Record<string, readonly [OperationName, (...shown: never) => object]>;

/** The address that is stored after one page for each observation of it, in this order. */
async function seen(...observations: readonly Observation[]) {
  const { pool, chain } = fresh();
  for (const [index, [place, shown]] of observations.entries()) {
    const [list, itemOf] = places[place];
    const page_id = index + 1;
    await loadOneByOne(pool, list, [{ page_id, items: [itemOf(page_id, shown)] }], chain);
  }
  const all = (table: string) => stored(pool, table, '*', chain);
  const [address] = await all('addresses');
  return {
    address,
    implementations: (await all('address_implementations')).map(
      (row) => row['implementation_hash'],
    ),
    tags: (await all('address_metadata_tags')).map(({ slug }) => slug),
    labels: (await all('address_labels')).map(({ kind }) => kind),
    watchlist: (await all('address_watchlist_names')).length,
  };
}

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
  ])('reports its %s: %s, then %s', async (field, before, after) => {
    const { address } = await seen(
      [place, { ...known, ...silent, [field]: before }],
      [place, { ...known, ...silent, [field]: after }],
    );
    expect(address).toMatchObject({ [field]: after });
  });

  test('erases nothing that it does not report', async () => {
    const reported = { ens_domain_name: 'vault.eth', is_scam: true, reputation: 'scam' };
    const kept = await seen(
      ['block', { ...known, ...reported, metadata: tags('a', 'b'), ...lists }],
      [place, { ...known, ...silent }],
    );
    expect(kept).toMatchObject({
      address: reported,
      tags: ['a', 'b'],
      labels: ['private', 'public'],
      watchlist: 1,
    });
  });

  test('reports its implementations, and that none are left', async () => {
    const implementations = [{ address_hash: addressOf(2), name: 'Logic' }];
    const observation = [place, { ...known, ...silent, implementations }] as const;
    expect((await seen(observation)).implementations).toEqual([addressOf(2)]);
    expect((await seen(observation, [place, { ...known, ...silent }])).implementations).toEqual([]);
  });
});

describe('an address seen as the miner of a block', () => {
  const first = { ...known, ens_domain_name: 'old.eth', metadata: tags('a', 'b'), ...lists };

  test('reports its ens name and metadata when they are not null', async () => {
    const now = { ...known, ens_domain_name: 'new.eth', metadata: tags('c') };
    expect(await seen(['block', first], ['block', now])).toMatchObject({
      address: { ens_domain_name: 'new.eth' },
      tags: ['c'],
    });
  });

  test('erases no ens name, metadata, label or watchlist name with null and empty lists', async () => {
    const empty = { private_tags: [], public_tags: [], watchlist_names: [] };
    expect(
      await seen(['block', first], ['block', { ...known, ...silent, ...empty }]),
    ).toMatchObject({
      address: { ens_domain_name: 'old.eth' },
      tags: ['a', 'b'],
      labels: ['private', 'public'],
      watchlist: 1,
    });
  });
});

describe('a stub', () => {
  const stub = { hash, ...silent, is_contract: false, is_verified: null, name: null };

  test.each([
    ['a bare hash', hash],
    ['a hash in mixed case', hash.toUpperCase().replace('0X', '0x')],
    ['an object that knows nothing', { ...stub, proxy_type: null, implementations: [] }],
  ])('that is %s erases nothing', async (_, shown) => {
    const implementations = [{ address_hash: addressOf(2), name: null }];
    const full = { ...known, proxy_type: 'eip1167', implementations };
    expect(await seen(['operation', full], ['operation', shown])).toMatchObject({
      address: {
        name: 'Vault',
        is_contract: true,
        is_verified: true,
        proxy_type: 'eip1167',
        page_id: '1',
      },
      implementations: [addressOf(2)],
    });
  });

  test('creates the row of the address', async () => {
    expect((await seen(['operation', hash])).address).toMatchObject({
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
  ])('reports its %s of %s', async (field, value) => {
    const { address } = await seen(
      ['operation', known],
      ['operation', { ...stub, [field]: value }],
    );
    expect(address).toMatchObject({ [field]: value, name: 'Vault' });
  });
});
