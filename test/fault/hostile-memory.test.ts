import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  openFault,
  startSimulator,
  type FaultName,
  type SimulatedChain,
} from '../../src/simulator/index.ts';
import { freshDatabase } from '../support/database.ts';
import type { Measured, MeasuredInput } from '../support/measured-sync.ts';
import { differences } from '../support/tables.ts';

const seed = 23;
const program = join(import.meta.dirname, '..', 'support', 'measured-sync.ts');
const run = promisify(execFile);

/** The most that a process may grow by, whatever it is served, in bytes. */
const mostGrowth = 256 * 1024 * 1024;

/** A sync in a process of its own, of a service that is at fault all the time. */
async function openScene(name: FaultName, userOperations: number) {
  const chain: SimulatedChain = {
    id: 900_000,
    name: 'chain-900000',
    family: 'optimism',
    generation: 'v12',
    userOperations,
    batches: { first: 1, count: 0, blocks: 0 },
    factories: 0,
  };
  const fault = openFault(name);
  const simulator = await startSimulator({ seed, chains: [chain], faults: () => fault });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const input: MeasuredInput = { url: simulator.url, databaseUrl: database.url, chain };
  const sync = async () => {
    const { stdout } = await run(process.execPath, [program, JSON.stringify(input)]);
    return JSON.parse(stdout) as Measured;
  };
  return { pool: database.pool, chain, sync };
}

test.each<[FaultName, RegExp]>([
  ['gzip-bomb', /the body exceeds/u],
  ['body-of-100-mb', /the body exceeds/u],
  ['endless-headers', /HEADERS_OVERFLOW/u],
])('%s is given up before it fills the memory, and nothing is stored', async (name, reason) => {
  const { pool, sync } = await openScene(name, 100);
  const { states, reasons, grownBytes } = await sync();
  expect(states).toEqual(['interrupted']);
  expect(reasons[0]).toMatch(reason);
  expect(grownBytes).toBeLessThan(mostGrowth);
  expect((await pool.query('select from explorer.user_operations')).rowCount).toBe(0);
});

test('a page of ten thousand items is stored whole within the memory of any other', async () => {
  const { pool, chain, sync } = await openScene('page-of-10000', 10_100);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rows } = await pool.query('select max(items)::int as items from etl.pages');
  expect(rows).toEqual([{ items: 10_000 }]);
  expect(await differences(pool, seed, chain)).toEqual({});
});

test('pages with two megabytes of text in one item, one after the other, do not pile up', async () => {
  // More pages than are in memory at once.
  const { pool, chain, sync } = await openScene('string-of-1-mb', 2_000);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rowCount } = await pool.query('select from explorer.user_operations');
  expect(rowCount).toBe(chain.userOperations);
});
