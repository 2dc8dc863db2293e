import { describe, expect, test } from 'vitest';
import { demoStart, type SimulatedChain } from '../../../simulator/index.ts';
import { createWorld } from '../../../simulator/world.ts';
import { truth } from '../../truth/truth.ts';
import { chainsAt, demoSeed as seed, nowMs, startAt, startMs } from './calendar.ts';
import { dayMs, hourMs, livelyMotion } from './moving.ts';
import { addressHash, get, itemsOf, paths, smallChain, walk, type Json } from './walk.ts';

const copied = 10;

/** The rows of a chain, with the blocks of its newest batches or of those below a number. */
function rowsOf(chain: SimulatedChain, newest = chain.batches.count) {
  return truth(seed, chain, { batches: { from: newest - copied + 1, to: newest } });
}

const both = chainsAt(nowMs).map((chain) => ({ name: chain.name, chain, tables: rowsOf(chain) }));

test('the demo holds enough for charts, and little enough to be copied in seconds', () => {
  const total = (table: 'user_operations' | 'blocks' | 'read_batches' | 'factories') =>
    both.reduce((sum, { tables }) => sum + tables[table].length, 0);
  expect(total('user_operations')).toBeGreaterThanOrEqual(20_000);
  expect(total('user_operations')).toBeLessThan(23_000);
  expect(total('blocks')).toBe(4000);
  expect(total('read_batches')).toBe(20);
  expect(total('factories')).toBe(560);
});

test('the demo begins at a midnight, ninety whole days ago', () => {
  for (const atMs of [nowMs, nowMs + 11 * hourMs, startMs + 90 * dayMs]) {
    expect(demoStart(atMs)).toBe(Date.parse('2026-08-24T00:00:00Z'));
  }
});

test('the same seed and start give the same world, another seed another one', () => {
  const [chain] = chainsAt(nowMs);
  if (chain === undefined) throw new Error('no chain');
  const only = { operations: ['user-operations'], userOperations: { newest: 300 } } as const;
  expect(truth(1, chain, only)).toEqual(truth(1, chain, only));
  const hashes = truth(1, chain, only).user_operations.map((row) => row['hash']);
  const others = new Set(truth(2, chain, only).user_operations.map((row) => row['hash']));
  expect(hashes.filter((hash) => others.has(hash))).toEqual([]);
});

describe.each([hourMs, dayMs, 40 * dayMs])('after %i ms more', (laterMs) => {
  const later = chainsAt(nowMs + laterMs);

  test.each(both)('the past of $name is as it was', ({ chain, tables }) => {
    const longer = later.find(({ id }) => id === chain.id);
    if (longer === undefined) throw new Error('the chain is gone');
    const now = rowsOf(longer, chain.batches.count);
    const grown = now.user_operations.length - tables.user_operations.length;
    expect(grown).toBeGreaterThan(0);
    expect(now.user_operations.slice(grown)).toEqual(tables.user_operations);
    const settled = (rows: readonly Json[]) =>
      rows.map((row) => ({ ...row, is_pending_update: false }));
    expect(settled(now.blocks)).toEqual(settled(tables.blocks));
    expect(longer.batches.count).toBeGreaterThan(chain.batches.count);
    expect(now.listed_batches.slice(-chain.batches.count)).toEqual(tables.listed_batches);
  });

  test.each(both)('the factories of $name have grown in their order', ({ chain, tables }) => {
    const longer = later.find(({ id }) => id === chain.id);
    const grown = longer === undefined ? [] : rowsOf(longer).factories;
    const addresses = (rows: readonly Json[]) => rows.map((row) => row['address_hash']);
    expect(addresses(grown)).toEqual(addresses(tables.factories));
    expect(Number(grown[0]?.['total_accounts'])).toBeGreaterThan(
      Number(tables.factories[0]?.['total_accounts']),
    );
  });
});

describe.each(both)('on $name', ({ chain, tables }) => {
  test('factories are served as they are, and from any position', async () => {
    const base = await startAt(chain);
    const items = itemsOf(await walk(base, paths.factories));
    expect(items.map(({ address }) => addressHash(address))).toEqual(
      tables.factories.map((row) => row['address_hash']),
    );
    expect(new Set(items.map((item) => item['total_accounts'])).size).toBe(chain.factories);
    for (const row of tables.factories.filter((_, place) => place % 37 === 0)) {
      const page_token = `${String(row['total_accounts'])},${String(row['address_hash'])}`;
      const query = { apikey: 'simulated-key', page_size: '1', page_token };
      const { body } = await get(base, paths.factories, query);
      const [item] = body['items'] as Json[];
      expect(addressHash(item?.['address'])).toBe(row['address_hash']);
    }
  });

  test('the largest factories and the heaviest senders have names', () => {
    const names = new Map(tables.addresses.map((row) => [row['hash'], row['name']]));
    const largest = tables.factories.slice(0, 20).map((row) => names.get(row['address_hash']));
    expect(largest.every((name) => /Factory/u.test(String(name)))).toBe(true);
    const senders = Map.groupBy(tables.user_operations, (row) => row['address_hash']);
    const heaviest = [...senders]
      .sort(([, left], [, right]) => right.length - left.length)
      .slice(0, 8)
      .map(([hash]) => names.get(hash));
    expect(heaviest.every((name) => typeof name === 'string')).toBe(true);
    expect(heaviest.some((name) => /Bundler/u.test(String(name)))).toBe(true);
    expect(heaviest.some((name) => /Paymaster/u.test(String(name)))).toBe(true);
    expect(heaviest.some((name) => /Exchange/u.test(String(name)))).toBe(true);
  });

  test('a batch is posted every few minutes up to now', () => {
    const times = tables.listed_batches.map((row) => Date.parse(row['l1_timestamp'] as string));
    const minutes = times.slice(1).map((timeMs, place) => ((times[place] ?? 0) - timeMs) / 60_000);
    expect(Math.min(...minutes)).toBeGreaterThan(1);
    expect(Math.max(...minutes)).toBeLessThan(15);
    expect(Math.max(...times)).toBeLessThanOrEqual(nowMs);
    expect(nowMs - Math.max(...times)).toBeLessThan(hourMs);
    expect(times.length).toBeGreaterThan(90);
  });

  test('blocks hold what fits together, and pay the fee vault', () => {
    for (const block of tables.blocks) {
      const [used, limit] = [Number(block['gas_used']), Number(block['gas_limit'])];
      expect(limit).toBe(60_000_000);
      expect(used).toBeLessThan(limit);
      expect(block['gas_used_percentage']).toBeCloseTo((used / limit) * 100, 4);
      const big = (name: string) => BigInt(block[name] as string);
      expect(big('burnt_fees')).toBe(big('base_fee_per_gas') * big('gas_used'));
      expect(big('transaction_fees')).toBe(big('burnt_fees') + big('priority_fee'));
      expect(Number(block['transactions_count'])).toBeGreaterThan(0);
      expect(Number(block['size'])).toBeGreaterThan(Number(block['transactions_count']) * 100);
      expect(block['miner_hash']).toBe('0x4200000000000000000000000000000000000011');
    }
    expect(tables.address_metadata_tags.map((row) => row['name'])).toContain('Sequencer Fee Vault');
  });
});

const [{ calendar } = {}] = chainsAt(nowMs);
if (calendar === undefined) throw new Error('the demo has no calendar');

describe('a calendar is refused', () => {
  test('together with motion', () => {
    const moving = { ...smallChain, calendar, motion: livelyMotion };
    expect(() => createWorld(seed, moving)).toThrow(RangeError);
  });

  test.each([0, 50_000_000])('with %i operations', (userOperations) => {
    const chain = { ...smallChain, calendar, userOperations };
    expect(() => createWorld(seed, chain)).toThrow(RangeError);
  });
});

test('a few operations of a calendar are spread over its days', () => {
  const { user_operations } = truth(seed, { ...smallChain, calendar, userOperations: 7 });
  const times = user_operations.map((row) => Date.parse(row['timestamp'] as string));
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(20 * dayMs);
});
