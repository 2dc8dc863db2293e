import { describe, expect, test } from 'vitest';
import { decodeItem } from '../../../src/lists/decode.ts';
import { parseExactly } from '../../../src/exact-number.ts';
import { type OperationName, operations } from '../../../src/lists/registry.ts';
import { address, hash, rowsOf } from '../operations/place.ts';

const valid = (name: OperationName, raw: unknown) => {
  const decoded = decodeItem(operations[name].item, raw);
  if (decoded.is === 'invalid') throw new Error(decoded.reason);
  return decoded;
};

const operation = { hash: hash('a'), fee: '12', timestamp: '2026-01-02T03:04:05Z' };
const largest = 2n ** 256n - 1n;

describe('a user operation', () => {
  test.each<[string, unknown, string, string]>([
    ['fee', '1E+18', 'malformed', 'format'],
    ['fee', '356.0', 'malformed', 'format'],
    ['fee', '-5', 'malformed', 'format'],
    ['fee', -5, 'malformed', 'format'],
    ['fee', String(largest + 1n), 'malformed', 'format'],
    ['fee', { wei: '1' }, 'object', 'type'],
    ['transaction_hash', '0x', 'malformed', 'format'],
    ['timestamp', '2026-01-02 03:04:05Z', 'malformed', 'format'],
    ['timestamp', '2026-01-02T03:04Z', 'malformed', 'format'],
    ['timestamp', '10000-01-01T00:00:00Z', 'malformed', 'format'],
    ['timestamp', '0000-01-01T00:00:00Z', 'malformed', 'format'],
    ['timestamp', '2024-01-01T00:00:00+23:00', 'malformed', 'format'],
    ['block_number', '0x10', 'malformed', 'format'],
    ['block_number', -1, 'malformed', 'format'],
    ['status', 'true', 'string', 'type'],
    ['address', '0x12', 'malformed', 'format'],
    ['address', { name: 'no hash' }, 'malformed', 'format'],
    ['entry_point', 7, 'number', 'type'],
  ])('with %s %j is a row with that value in extra', (field, value, label, kind) => {
    const raw = { ...operation, [field]: value };
    const { row, missing } = rowsOf('user-operations', raw);
    const column = ['address', 'entry_point'].includes(field) ? `${field}_hash` : field;
    expect(row).toMatchObject({ [column]: null, extra: { [`${field} (${label})`]: value } });
    expect(missing?.columns).toEqual([column]);
    expect(valid('user-operations', raw).unread).toEqual([
      { path: [field], kind, detail: expect.any(String) },
    ]);
  });

  test.each([
    ['187125856691380123456', '187125856691380123456'],
    ['12', '12'],
    ['1e21', '1000000000000000000000'],
    [String(largest), String(largest)],
  ])('whose fee is the number %s keeps every digit', (number, fee) => {
    const raw = parseExactly(`{"hash":"${hash('a')}","fee":${number}}`) as object;
    expect(rowsOf('user-operations', raw).row).toMatchObject({ fee, extra: null });
    expect(valid('user-operations', raw).unread).toEqual([]);
  });

  test('keeps the digits of unknown numbers', () => {
    const text = `{"hash":"${hash('a')}","x":9007199254740993,"y":{"z":0.1234567890123456789}}`;
    const { row } = rowsOf('user-operations', parseExactly(text) as object);
    expect(JSON.stringify(row['extra'])).toBe(
      '{"x":9007199254740993,"y":{"z":0.1234567890123456789}}',
    );
  });

  test.each([
    ['2026-01-02T03:04:59.9999999Z', '2026-01-02T03:04:59.999999Z'],
    ['2026-01-02T03:04:05.1', '2026-01-02T03:04:05.1Z'],
    ['2026-01-02T03:04:05.123456789+02:00', '2026-01-02T03:04:05.123456+02:00'],
  ])('of %s has its time truncated to microseconds', (timestamp, expected) => {
    expect(rowsOf('user-operations', { ...operation, timestamp }).row).toMatchObject({
      timestamp: expected,
    });
  });

  test.each([
    [{ hash: '0x' }, /^hash: expected a hash/u],
    [{ hash: null }, /^hash: Invalid input/u],
    [{ hash: undefined }, /^hash: Invalid input/u],
    [{ hash: '0x', fee: 'x' }, /hash: expected a hash/u],
  ])('with %j is refused', (change, reason) => {
    const decoded = decodeItem(operations['user-operations'].item, { ...operation, ...change });
    expect(decoded).toEqual({ is: 'invalid', reason: expect.stringMatching(reason) });
  });
});

describe('a block', () => {
  const block = { hash: hash('a'), height: 7 };

  test('keeps the neighbours of a member that is null or of another type', () => {
    const raw = {
      ...block,
      rewards: [null, { reward: '5' }, 7, { reward: 'x', type: 'm' }],
      uncles_hashes: [{ hash: '0x' }, null, { hash: hash('b') }],
    };
    const { row, children, missing } = rowsOf('optimism-batch-blocks', raw);
    expect(children[0]).toEqual([
      expect.objectContaining({ position: 1, reward: '5' }),
      expect.objectContaining({ position: 3, reward: null, type: 'm' }),
    ]);
    expect(children[1]).toEqual([
      expect.objectContaining({ position: 0, hash: null }),
      expect.objectContaining({ position: 2, hash: hash('b') }),
    ]);
    expect(row['extra']).toEqual({
      'rewards[2] (number)': 7,
      rewards: { 3: { 'reward (malformed)': 'x' } },
      uncles_hashes: { 0: { 'hash (malformed)': '0x' } },
    });
    expect(missing).toEqual({ columns: [], children: [[2, 3, 0], [0, 1], []] });
  });

  test('whose list is of another type does not report it', () => {
    const { row, missing } = rowsOf('optimism-batch-blocks', { ...block, rewards: 'none' });
    expect(row['extra']).toEqual({ 'rewards (string)': 'none' });
    expect(missing).toEqual({ columns: [], children: ['all', [], []] });
  });

  test.each([
    [{ transactions_count: 3, transaction_count: 4, tx_count: 3 }, 3, { transaction_count: 4 }],
    [{ transactions_count: null, transaction_count: 4, tx_count: 5 }, 4, { tx_count: 5 }],
    [{ transactions_count: 3, tx_count: 3 }, 3, null],
    [{ transactions_count: -3, tx_count: 3 }, 3, { 'transactions_count (malformed)': -3 }],
  ])('with %j has %j transactions, and extra %j', (counts, transactions_count, extra) => {
    const { row } = rowsOf('optimism-batch-blocks', { ...block, ...counts });
    expect([row['transactions_count'], row['extra']]).toEqual([transactions_count, extra]);
  });

  test.each([{ height: -1 }, { height: '7' }, { height: 1.5 }, { height: null }])(
    'with %j is refused',
    (change) => {
      const decoded = decodeItem(operations['optimism-batch-blocks'].item, { ...block, ...change });
      expect(decoded.is).toBe('invalid');
    },
  );

  test('has no miner if the miner has no address', () => {
    const { row, addresses } = rowsOf('optimism-batch-blocks', {
      ...block,
      miner: { hash: '0x12', name: 'x' },
    });
    expect(row).toMatchObject({
      miner_hash: null,
      extra: { 'miner (malformed)': { hash: '0x12', name: 'x' } },
    });
    expect(addresses).toEqual([]);
  });
});

describe('a factory', () => {
  test.each([
    [-1, 'malformed'],
    [1.5, 'malformed'],
    ['0x10', 'string'],
  ])('with %j accounts is a row without a count', (total_accounts, label) => {
    const { row } = rowsOf('factories', { address: address('b'), total_accounts });
    expect(row).toMatchObject({
      total_accounts: null,
      extra: { [`total_accounts (${label})`]: total_accounts },
    });
  });

  test.each(['0x12', null, 5, { name: 'x' }, { hash: 'x' }])(
    'with address %j is refused',
    (seen) => {
      expect(decodeItem(operations.factories.item, { address: seen }).is).toBe('invalid');
    },
  );
});

describe('an embedded address', () => {
  const other = address('c');
  const observation = (seen: object) =>
    rowsOf('factories', { address: { hash: address('b'), is_verified: true, ...seen } })
      .addresses[0];

  test('with two spellings that differ keeps the second', () => {
    const implementations = [
      { address_hash: other, address: address('d') },
      { address_hash: other, address: other.toUpperCase().replace('X', 'x') },
    ];
    const seen = observation({ implementations });
    expect(seen?.row.extra).toEqual({ implementations: { 0: { address: address('d') } } });
    expect(seen?.lists.implementations?.rows).toHaveLength(2);
  });

  test('with values of another type or format does not report them', () => {
    const seen = observation({
      name: ['a'],
      is_contract: 'yes',
      implementations: 'none',
      metadata: { tags: 5 },
      public_tags: [null, { address_hash: '0x1', label: 'l' }],
    });
    expect(seen).toMatchObject({
      row: { name: null, is_contract: null },
      lists: {
        implementations: null,
        metadata_tags: null,
        public_labels: { rows: [{ position: 1, label: 'l' }], unread: [1, 0] },
      },
      missing: ['name'],
    });
    expect(seen?.row.extra).toEqual({
      'name (array)': ['a'],
      'is_contract (string)': 'yes',
      'implementations (string)': 'none',
      metadata: { 'tags (number)': 5 },
      public_tags: { 1: { 'address_hash (malformed)': '0x1' } },
    });
  });
});
