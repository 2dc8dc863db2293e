import { describe, expect, test } from 'vitest';
import { operations } from '../../../src/lists/registry.ts';
import { address, hash, refused, rowsOf } from './place.ts';

describe('a user operation', () => {
  const name = 'user-operations';

  test('is a row, and its sender and entry point are observations of addresses', () => {
    const item = rowsOf(name, {
      hash: hash('A'),
      address: { hash: address('B'), is_verified: true },
      entry_point: address('C'),
      entry_point_version: 'v0.9',
      block_number: '123456789012345',
      fee: '0',
      status: false,
      timestamp: '2026-01-02T03:04:05.123456Z',
      transaction_hash: hash('D'),
      sponsor: 'x',
    });
    expect(item.row).toEqual({
      chain_id: 10,
      hash: hash('a'),
      block_number: 123_456_789_012_345,
      timestamp: '2026-01-02T03:04:05.123456Z',
      status: false,
      address_hash: address('b'),
      entry_point_hash: address('c'),
      entry_point_version: 'v0.9',
      transaction_hash: hash('d'),
      fee: '0',
      removed_at: null,
      extra: { sponsor: 'x' },
    });
    expect(item.addresses.map(({ row }) => row.hash)).toEqual([address('b'), address('c')]);
  });

  test('of which only the hash is told is a row of nulls', () => {
    const { row, addresses } = rowsOf(name, { hash: hash('a') });
    const told = Object.entries(row).filter(([, value]) => value !== null);
    expect(Object.fromEntries(told)).toEqual({ chain_id: 10, hash: hash('a') });
    expect(addresses).toEqual([]);
  });

  test.each([
    ['hash', {}],
    ['hash', { hash: '0x' }],
  ])('is refused for its %s: %j', (field, raw) => {
    expect(refused(name, raw)).toEqual([field]);
  });
});

describe('a factory', () => {
  const name = 'factories';

  test.each([
    ['a bare hash', address('B')],
    ['an object', { hash: address('B'), is_verified: null }],
  ])('whose address is %s goes by its hash in lower case', (_, shown) => {
    const { key, row } = rowsOf(name, { address: shown, total_accounts: 5 });
    expect(key).toBe(address('b'));
    expect(row).toEqual({
      chain_id: 10,
      address_hash: address('b'),
      total_accounts: 5,
      extra: null,
    });
  });

  test.each([{}, { address: null }, { address: { name: 'x' } }])(
    'without a hash is refused for its address: %j',
    (raw) => {
      expect(refused(name, { total_accounts: 5, ...raw })).toEqual(['address']);
    },
  );
});

describe.each(['user-operations', 'factories'] as const)('the cursor of %s', (name) => {
  const operation = operations[name];

  test.each([
    [{ page_token: 't', page_size: 50 }, { page_token: 't' }],
    [{ page_token: 't', page_size: 'fifty' }, { page_token: 't' }],
    [{ page_token: 't' }, { page_token: 't' }],
    [{ page_token: 't', key: 'secret', apikey: 'secret' }, { page_token: 't' }],
  ])('%j is read as %j', (raw, expected) => {
    expect(operation.cursor.parse(raw)).toEqual(expected);
  });

  test.each([{ page_size: 50 }, { page_token: '' }, { page_token: null }, { page_token: 7 }])(
    '%j is none',
    (raw) => {
      expect(operation.cursor.safeParse(raw).success).toBe(false);
    },
  );

  test('goes back unchanged beside the page size, which is ours, whatever was kept', () => {
    expect(operation.request({}, null, 50).query).toEqual({ page_size: 50 });
    expect(operation.request({}, { page_token: 't', page_size: 7 }, 50).query).toEqual({
      page_token: 't',
      page_size: 50,
    });
  });
});
