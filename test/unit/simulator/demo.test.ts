import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { demoChains, demoStart } from '../../../simulator/demo.ts';
import { truth } from '../../truth/truth.ts';

const seed = 1;
const copied = 10;
const dayMs = 86_400_000;
const nowMs = Date.parse('2026-11-22T11:17:23.456Z');
/** The chains of the demo as they stand at a time, first run now. */
const chainsAt = (atMs: number) => demoChains(demoStart(nowMs), atMs);

/** The rows of a chain, with the blocks of its newest batches or of those below a number. */
const rowsOf = (chain: SimulatedChain, newest = chain.batches.count) =>
  truth(seed, chain, { batches: { from: newest - copied + 1, to: newest } });

const both = chainsAt(nowMs).map((chain, place) => ({ chain, place, tables: rowsOf(chain) }));

test('the demo holds enough for charts, and little enough to be copied in seconds', () => {
  const total = (table: 'user_operations' | 'blocks' | 'read_batches' | 'factories') =>
    both.reduce((sum, { tables }) => sum + tables[table].length, 0);
  expect(total('user_operations')).toBeGreaterThanOrEqual(20_000);
  expect(total('user_operations')).toBeLessThan(23_000);
  expect([total('blocks'), total('read_batches'), total('factories')]).toEqual([4000, 20, 560]);
});

// Lists grow alike on both chains.
test.each([
  ['an hour', dayMs / 24, both.slice(0, 1)],
  ['40 days', 40 * dayMs, both.slice(1)],
])('the past has not changed %s later', (_later, laterMs, chains) => {
  for (const { chain, place, tables } of chains) {
    const longer = chainsAt(nowMs + laterMs)[place] ?? chain;
    const now = rowsOf(longer, chain.batches.count);
    const grown = now.user_operations.length - tables.user_operations.length;
    expect(grown).toBeGreaterThan(0);
    expect(now.user_operations.slice(grown)).toEqual(tables.user_operations);
    const settled = (rows: readonly Record<string, unknown>[]) =>
      rows.map((row) => ({ ...row, is_pending_update: false }));
    expect(settled(now.blocks)).toEqual(settled(tables.blocks));
    expect(now.listed_batches.slice(-tables.listed_batches.length)).toEqual(tables.listed_batches);
  }
});
