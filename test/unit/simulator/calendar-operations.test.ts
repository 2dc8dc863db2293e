import { describe, expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import type { Row } from '../../truth/row.ts';
import { truth } from '../../truth/truth.ts';
import { chainsAt, demoSeed as seed, nowMs, startAt, startMs } from './calendar.ts';
import { dayMs, hourMs } from './moving.ts';
import { get, itemsOf, paths, walk, type Json } from './walk.ts';

const oneItem = { apikey: 'simulated-key', page_size: '1' };

const operationsOf = (chain: SimulatedChain) =>
  truth(seed, chain, { operations: ['user-operations'] }).user_operations;
const both = chainsAt(nowMs).map((chain) => ({
  name: chain.name,
  chain,
  operations: operationsOf(chain),
}));

const timeOf = (row: Row) => Date.parse(row['timestamp'] as string);
const dayOf = (row: Row) => Math.floor((timeOf(row) - startMs) / dayMs);
const share = (rows: readonly Row[], holds: (row: Row) => boolean) =>
  rows.filter(holds).length / rows.length;
const countBy = <Key>(rows: readonly Row[], key: (row: Row) => Key) =>
  [...Map.groupBy(rows, key)].map(([value, { length }]) => ({ value, count: length }));

describe.each(both)('the operations of $name', ({ chain, operations }) => {
  test('come on each of ninety days, up to now', () => {
    const days = new Set(operations.map(dayOf));
    expect(days.size).toBe(91);
    expect(Math.min(...operations.map(timeOf))).toBeGreaterThanOrEqual(startMs);
    const newest = Math.max(...operations.map(timeOf));
    expect(newest).toBeLessThanOrEqual(nowMs);
    expect(nowMs - newest).toBeLessThan(6 * hourMs);
    expect(operations.filter((row) => dayOf(row) < 90).length / chain.userOperations).toBeCloseTo(
      1,
      1,
    );
  });

  test('are fewer at night and at the weekend', () => {
    const hourOf = (row: Row) => new Date(timeOf(row)).getUTCHours();
    const night = share(operations, (row) => hourOf(row) < 6);
    const afternoon = share(operations, (row) => hourOf(row) >= 12 && hourOf(row) < 18);
    expect(afternoon).toBeGreaterThan(2 * night);
    // Whole weeks, so that each weekday counts alike: two of seven days would be 0.29.
    const weeks = operations.filter((row) => dayOf(row) < 84);
    const isWeekend = (row: Row) => [0, 6].includes(new Date(timeOf(row)).getUTCDay());
    expect(share(weeks, isWeekend)).toBeLessThan(0.23);
    expect(share(weeks, isWeekend)).toBeGreaterThan(0.12);
  });

  test('become more and more', () => {
    const weekly = (from: number) =>
      operations.filter((row) => dayOf(row) >= from && dayOf(row) < from + 14).length;
    const [first, middle, last] = [weekly(0), weekly(35), weekly(76)];
    expect(middle).toBeGreaterThan(first * 1.2);
    expect(last).toBeGreaterThan(middle * 1.2);
  });

  test('fail seldom, but for one outage of some hours', () => {
    const failedOf = (rows: readonly Row[]) => share(rows, (row) => row['status'] === false);
    const byDay = [...Map.groupBy(operations, dayOf)].map(([day, rows]) => ({ day, rows }));
    const bad = byDay.filter(({ rows }) => rows.length > 40 && failedOf(rows) > 0.2);
    expect(bad).toHaveLength(1);
    const outage = bad[0]?.rows.filter((row) => row['status'] === false).map(timeOf) ?? [];
    expect(outage.length).toBeGreaterThan(15);
    const rest = operations.filter((row) => dayOf(row) !== bad[0]?.day);
    expect(failedOf(rest)).toBeGreaterThan(0.015);
    expect(failedOf(rest)).toBeLessThan(0.05);
  });

  test('cost between 10^12 and 10^16 wei, most of them about 10^14', () => {
    const fees = operations.map((row) => Number(row['fee'])).sort((left, right) => left - right);
    const at = (part: number) => fees[Math.floor(part * (fees.length - 1))] ?? 0;
    expect(at(0)).toBeGreaterThanOrEqual(1e12);
    expect(at(1)).toBeLessThanOrEqual(1e16);
    expect(at(0.5)).toBeGreaterThan(2e13);
    expect(at(0.5)).toBeLessThan(2e14);
    // As costs are: far more above the middle than below it.
    expect(at(0.95) - at(0.5)).toBeGreaterThan(2 * (at(0.5) - at(0.05)));
  });

  test('are sent by few heavy senders and a long tail', () => {
    const senders = countBy(operations, (row) => row['address_hash']).sort(
      (left, right) => right.count - left.count,
    );
    const top = senders.slice(0, 10).reduce((sum, { count }) => sum + count, 0);
    expect(top / operations.length).toBeGreaterThan(0.25);
    expect(top / operations.length).toBeLessThan(0.4);
    expect(senders.filter(({ count }) => count === 1).length).toBeGreaterThan(500);
  });

  test('move from one entry point version to the next', () => {
    const versionOf = (row: Row) => row['entry_point_version'] as string;
    const leading = (from: number, to: number) =>
      countBy(
        operations.filter((row) => dayOf(row) >= from && dayOf(row) < to),
        versionOf,
      ).toSorted((left, right) => right.count - left.count)[0]?.value;
    expect([leading(0, 14), leading(35, 49), leading(76, 90)]).toEqual(['v0.6', 'v0.7', 'v0.8']);
    const meanDay = (version: string) => {
      const days = operations.filter((row) => versionOf(row) === version).map(dayOf);
      return days.reduce((sum, day) => sum + day, 0) / days.length;
    };
    const versions = ['v0.6', 'v0.7', 'v0.8', 'v0.9'];
    expect(versions.toSorted((left, right) => meanDay(left) - meanDay(right))).toEqual(versions);
  });

  test('share a transaction where they share a block', () => {
    const byBlock = Map.groupBy(operations, (row) => row['block_number']);
    for (const bundle of byBlock.values()) {
      expect(new Set(bundle.map((row) => row['transaction_hash'])).size).toBe(1);
    }
    expect(byBlock.size).toBeLessThan(operations.length / 2);
  });

  test('are served as they are, and from any position', async () => {
    const base = await startAt(chain);
    const items = itemsOf(await walk(base, paths.operations));
    expect(items.map((item) => item['hash'])).toEqual(operations.map((row) => row['hash']));
    for (const row of operations.filter((_, place) => place % 997 === 0)) {
      const page_token = `${String(row['block_number'])},${String(row['hash'])}`;
      const { body } = await get(base, paths.operations, { ...oneItem, page_token });
      expect((body['items'] as Json[])[0]?.['hash']).toBe(row['hash']);
    }
  });
});
