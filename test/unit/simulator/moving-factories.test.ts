import { describe, expect, test } from 'vitest';
import { startInstantMs } from '../../../simulator/index.ts';
import { truthAt } from '../../truth/truth.ts';
import { dayMs, hourMs, livelyChain, livelyMotion, minuteMs, seed, startMoving } from './moving.ts';
import { addressHash, itemsOf, paths, walk, type Json } from './walk.ts';

const onlyFactories = { operations: ['factories'] } as const;
const rowsAt = (atMs: number, chain = livelyChain) =>
  truthAt(seed, chain, onlyFactories, atMs).factories;
const addressesOf = (rows: readonly Json[]) => rows.map((row) => row['address_hash']);

const withMotion = (motion: Partial<typeof livelyMotion>) => ({
  ...livelyChain,
  motion: {
    ...livelyMotion,
    absentFactoriesPercent: 0,
    newFactoriesPercent: 0,
    ...motion,
  },
});

describe.each([0, 17 * minuteMs, 2 * dayMs])('at %i ms the list of factories', (atMs) => {
  test.each([1, 7, 50])('is exact in pages of %i', async (size) => {
    const { base, clock } = await startMoving();
    clock.nowMs = atMs;
    const pages = await walk(base, paths.factories, { page_size: String(size) });
    const listed = rowsAt(atMs).filter((row) => row['missing_since'] === null);
    expect(
      itemsOf(pages).map((item, place) => [
        addressHash(item['address']),
        item['total_accounts'],
        place + 1,
      ]),
    ).toEqual(listed.map((row) => [row['address_hash'], row['total_accounts'], row['rank']]));
    expect(pages).toHaveLength(Math.ceil(listed.length / size));
  });

  test('descends by total_accounts, then by address', async () => {
    const { base, clock } = await startMoving();
    clock.nowMs = atMs;
    const keys = itemsOf(await walk(base, paths.factories)).map(
      (item) =>
        `${String(item['total_accounts']).padStart(9, '0')},${addressHash(item['address'])}`,
    );
    expect(keys).toEqual([...keys].sort().toReversed());
  });
});

test('counts rise and fall, and ranks with them', () => {
  const chain = withMotion({});
  const before = new Map(rowsAt(0, chain).map((row) => [row['address_hash'], row]));
  const after = rowsAt(10 * minuteMs, chain);
  const rises = after.map(
    (row) =>
      Number(row['total_accounts']) - Number(before.get(row['address_hash'])?.['total_accounts']),
  );
  expect(rises.filter((rise) => rise > 0).length).toBeGreaterThan(30);
  expect(rises.filter((rise) => rise < 0).length).toBeGreaterThan(30);
  expect(
    after.filter((row) => row['rank'] !== before.get(row['address_hash'])?.['rank']).length,
  ).toBeGreaterThan(50);
});

test('counts change one by one, not all at a time', () => {
  const chain = withMotion({});
  const before = new Map(rowsAt(hourMs, chain).map((row) => [row['address_hash'], row]));
  const changed = rowsAt(hourMs + minuteMs, chain).filter(
    (row) => row['total_accounts'] !== before.get(row['address_hash'])?.['total_accounts'],
  );
  expect(changed.length).toBeGreaterThan(3);
  expect(changed.length).toBeLessThan(30);
});

test('a walk while counts change repeats no cursor, but misses or repeats factories', async () => {
  const chain = withMotion({});
  let nowMs = 0;
  const { base } = await startMoving(chain, { clock: () => (nowMs += minuteMs) });
  const pages = await walk(base, paths.factories, { page_size: '5' });
  const served = itemsOf(pages).map((item) => addressHash(item['address']));
  const missed = addressesOf(rowsAt(0, chain)).filter((hash) => !served.includes(String(hash)));
  const repeated = served.length - new Set(served).size;
  expect(missed.length + repeated).toBeGreaterThan(0);
});

test('some factories enter within a week', () => {
  const chain = withMotion({ newFactoriesPercent: 20 });
  const counts = [0, 3.5 * dayMs, 7 * dayMs].map((atMs) => rowsAt(atMs, chain).length);
  expect(counts[0]).toBeLessThan(120);
  expect(counts[1]).toBeGreaterThan(Number(counts[0]));
  expect(counts[2]).toBe(130);
});

test('some factories go missing for half a day, and return', () => {
  const chain = withMotion({ absentFactoriesPercent: 30 });
  const missingAt = (atMs: number) =>
    addressesOf(rowsAt(atMs, chain).filter((row) => row['missing_since'] !== null));
  const missing = missingAt(3 * dayMs);
  expect(missing.length).toBeGreaterThan(3);
  const later = new Set(missingAt(3 * dayMs + 12 * hourMs));
  expect(missing.filter((address) => later.has(address))).toEqual([]);
  expect(rowsAt(3 * dayMs, chain)).toHaveLength(130);
});

test('a missing factory has no rank, and one not yet seen is not in the truth', () => {
  const chain = withMotion({ absentFactoriesPercent: 30 });
  expect(rowsAt(0, chain).every((row) => row['missing_since'] === null)).toBe(true);
  expect(rowsAt(0, chain).length).toBeLessThan(130);
  const rows = rowsAt(2 * dayMs, chain);
  expect(rows.filter((row) => row['rank'] === null)).toEqual(
    rows.filter((row) => row['missing_since'] !== null),
  );
});

test('a missing factory keeps the count that it was last listed with', () => {
  const chain = withMotion({ absentFactoriesPercent: 30 });
  const missing = rowsAt(2 * dayMs, chain).filter((row) => row['missing_since'] !== null);
  expect(missing.length).toBeGreaterThan(3);
  for (const row of missing) {
    const lastMs = Date.parse(row['missing_since'] as string) - startInstantMs - 1;
    const before = rowsAt(lastMs, chain).find(
      ({ address_hash }) => address_hash === row['address_hash'],
    );
    expect(before?.['missing_since']).toBeNull();
    expect(row['total_accounts']).toBe(before?.['total_accounts']);
  }
});
