import { expect, test } from 'vitest';
import { statusFaults } from '../../simulator/index.ts';
import { faultNames, type FaultName } from '../harness/hostile-faults.ts';
import { differences } from '../harness/tables.ts';
import { mostGrowth, openMeasured, seed } from './measured.ts';

/** Short, so that what is slow is given up while one looks. */
const shortTimeouts = { connectMs: 8000, headersMs: 3000, bodyMs: 8000, totalMs: 6000 };

// `hostile.long.test.ts` has one process survive them in each kind of list.
test('the memory of one process stays bounded through every hostile response', async () => {
  const names = faultNames.filter((name) => !(name in statusFaults));
  const { sync } = await openMeasured(names, {
    operations: ['user-operations'],
    timeouts: shortTimeouts,
  });
  const { states, grownBytes } = await sync();
  expect(states.length).toBe(names.length);
  // Other tests show what each does; this one shows that they ran.
  expect(new Set(states)).toEqual(new Set(['finished', 'failed', 'interrupted']));
  expect(grownBytes).toBeLessThan(mostGrowth);
});

test.each<[FaultName, RegExp]>([
  ['gzip-bomb', /the body exceeds/u],
  ['body-of-100-mb', /the body exceeds/u],
  ['endless-headers', /headers overflow/iu],
])('%s is abandoned before it fills the memory, and nothing is stored', async (name, reason) => {
  const { pool, sync } = await openMeasured([name]);
  const { states, reasons, grownBytes } = await sync();
  expect(states).toEqual(['interrupted']);
  expect(reasons[0]).toMatch(reason);
  expect(grownBytes).toBeLessThan(mostGrowth);
  expect((await pool.query('select from explorer.user_operations')).rowCount).toBe(0);
});

test('a page of five hundred items is stored whole, within the usual memory', async () => {
  const { pool, chain, sync } = await openMeasured(['page-of-500']);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rows } = await pool.query('select max(items)::int as items from etl.pages');
  expect(rows).toEqual([{ items: 500 }]);
  const scope = { operations: ['user-operations'] } as const;
  expect(await differences(pool, seed, chain, scope)).toEqual({});
});

test('memory stays flat over pages with two megabytes of text in one item', async () => {
  const { pool, chain, sync } = await openMeasured(['string-of-1-mb']);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rowCount } = await pool.query('select from explorer.user_operations');
  expect(rowCount).toBe(chain.userOperations);
});
