import { describe, expect, test } from 'vitest';
import { operations } from '../../../src/lists/registry.ts';
import { address, hash, refused, rowsOf } from './place.ts';

const name = 'optimism-batch-blocks';
const least = { hash: hash('A'), height: 7 };
const operation = operations[name];

describe('a block', () => {
  test('of which only hash and height are told is a row of nulls', () => {
    const { row } = rowsOf(name, least);
    const told = Object.entries(row).filter(([, value]) => value !== null);
    expect(Object.fromEntries(told)).toEqual({
      chain_id: 10,
      height: 7,
      hash: hash('a'),
      optimism_batch_number: 4,
    });
  });

  test('may have null in every other field', () => {
    const fields = Object.keys(rowsOf(name, least).row).filter((field) => !(field in least));
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    expect(
      refused(name, { ...nulls, ...least, rewards: null, arbitrum: null, miner: null }),
    ).toEqual([]);
  });

  test.each(['transactions_count', 'transaction_count', 'tx_count'])(
    'has its count of transactions by the name of %s',
    (field) => {
      expect(rowsOf(name, { ...least, [field]: 12 }).row).toMatchObject({ transactions_count: 12 });
    },
  );

  test.each([
    'base_fee_per_gas',
    'burnt_fees',
    'difficulty',
    'gas_limit',
    'gas_used',
    'priority_fee',
    'total_difficulty',
    'transaction_fees',
  ])('holds the largest 256-bit number in %s, digit for digit', (field) => {
    const largest = (2n ** 256n - 1n).toString();
    expect(rowsOf(name, { ...least, [field]: largest }).row).toMatchObject({ [field]: largest });
  });

  test('keeps what other chain families add, at its place', () => {
    const raw = {
      ...least,
      celo: { epoch: 3 },
      rewards: [{ reward: '1' }, { reward: '2', share: 0.5 }],
      miner: { hash: address('b'), colour: 'red' },
    };
    expect(rowsOf(name, raw).row['extra']).toEqual({
      celo: { epoch: 3 },
      rewards: { 1: { share: 0.5 } },
    });
  });

  test('has the three transactions fields of its arbitrum object in columns', () => {
    const transaction = { hash: hash('C'), status: 'finalized', timestamp: '2026-01-02T03:04:05' };
    const { children } = rowsOf(name, {
      ...least,
      arbitrum: { status: 'Sent to base', commitment_transaction: transaction },
    });
    expect(children[2]).toEqual([
      expect.objectContaining({
        chain_id: 10,
        block_height: 7,
        status: 'Sent to base',
        commitment_transaction_hash: hash('c'),
        commitment_transaction_status: 'finalized',
        commitment_transaction_timestamp: '2026-01-02T03:04:05Z',
        confirmation_transaction_hash: null,
      }),
    ]);
  });

  test.each([
    ['hash', { hash: undefined }],
    ['hash', { hash: '0x12' }],
    ['height', { height: -1 }],
    ['height', { height: 2 ** 53 }],
  ])('is refused for its %s: %j', (field, change) => {
    expect(refused(name, { ...least, ...change })).toEqual([field]);
  });
});

describe('the cursor of batch blocks', () => {
  test.each([
    [
      { block_number: 7, items_count: 50 },
      { block_number: 7, items_count: 50 },
    ],
    [{ block_number: 7 }, { block_number: 7 }],
    [
      { block_number: '7', items_count: '50' },
      { block_number: 7, items_count: 50 },
    ],
    [{ block_number: 7, key: 'secret' }, { block_number: 7 }],
    // The service reads block 0 as no cursor, and serves page 1 again.
    [{ block_number: 0, items_count: 50 }, null],
  ])('%j is read as %j', (raw, expected) => {
    expect(operation.cursor.parse(raw)).toEqual(expected);
  });

  test.each([{}, { block_number: -1 }, { block_number: 'x' }, { items_count: 50 }])(
    '%j is none',
    (raw) => {
      expect(operation.cursor.safeParse(raw).success).toBe(false);
    },
  );

  test('goes back unchanged beside the page size, which it overrides', () => {
    expect(operation.request({ batch: 4 }, null, 50)).toEqual({
      path: 'blocks/optimism-batch/4',
      query: { items_count: 50 },
    });
    expect(operation.request({ batch: 4 }, { block_number: 7, items_count: 9 }, 50).query).toEqual({
      block_number: 7,
      items_count: 9,
    });
  });
});
