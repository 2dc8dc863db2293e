import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { statusFaults, type SimulatedChain } from '../../simulator/index.ts';
import { faultNames, openFault, type FaultName } from '../harness/hostile-faults.ts';
import type { Measured, MeasuredInput } from './measured-process.ts';
import { firstId } from './struck-world.ts';
import { differences } from '../harness/tables.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';

const seed = 23;
const program = join(import.meta.dirname, './measured-process.ts');

/** The most that a process may grow by, whatever it is served, in bytes. */
const mostGrowth = 256 * 1024 * 1024;

/** Short, so that what is slow is given up while one looks. */
const shortTimeouts = { connectMs: 8000, headersMs: 3000, bodyMs: 8000, totalMs: 6000 };

/** Enough that what piles up is seen: more pages than are in memory at once, or one of all items. */
const operationsOf: Partial<Record<FaultName, number>> = {
  'page-of-10000': 10_100,
  'string-of-1-mb': 2_000,
};
const someOperations = 100;

const chainOf = (name: FaultName, index: number): SimulatedChain => ({
  ...plainChain,
  id: firstId + index,
  name: `chain-${firstId + index}`,
  userOperations: operationsOf[name] ?? someOperations,
  batches: { first: 1, count: 2, blocks: 60 },
  factories: 60,
});

async function measure(input: MeasuredInput): Promise<Measured> {
  const args = [program, JSON.stringify(input)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Measured;
}

/** An explorer with a chain for each fault, which meets it all the time, and a sync of it in a process. */
async function openScene(
  names: readonly FaultName[],
  { operations = ['user-operations'], timeouts = {} }: Partial<MeasuredInput> = {},
) {
  const chains = names.map(chainOf);
  const faults = names.map((name) => openFault(name));
  const { simulator, database, chain } = await openWorld({
    seed,
    chain: chains[0] ?? plainChain,
    chains,
    faults: ({ chainId }) => faults[chainId - firstId] ?? null,
  });
  const { url } = simulator;
  const input = { url, databaseUrl: database.url, chains, operations, timeouts };
  return { pool: database.pool, chain, sync: () => measure(input) };
}

test.each(['user-operations', 'optimism-batch-blocks', 'factories'])(
  'one process survives every hostile response to %s',
  async (operation) => {
    const names = faultNames.filter((name) => !(name in statusFaults));
    const { sync } = await openScene(names, { operations: [operation], timeouts: shortTimeouts });
    const { states, grownBytes } = await sync();
    expect(states.length).toBe(names.length);
    // Other tests show what each does; this one shows that they ran.
    expect(new Set(states)).toEqual(new Set(['finished', 'failed', 'interrupted']));
    expect(grownBytes).toBeLessThan(mostGrowth);
  },
);

test.each<[FaultName, RegExp]>([
  ['gzip-bomb', /the body exceeds/u],
  ['body-of-100-mb', /the body exceeds/u],
  ['endless-headers', /HEADERS_OVERFLOW/u],
])('%s is abandoned before it fills the memory, and nothing is stored', async (name, reason) => {
  const { pool, sync } = await openScene([name]);
  const { states, reasons, grownBytes } = await sync();
  expect(states).toEqual(['interrupted']);
  expect(reasons[0]).toMatch(reason);
  expect(grownBytes).toBeLessThan(mostGrowth);
  expect((await pool.query('select from explorer.user_operations')).rowCount).toBe(0);
});

test('a page of ten thousand items is stored whole, within the usual memory', async () => {
  const { pool, chain, sync } = await openScene(['page-of-10000']);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rows } = await pool.query('select max(items)::int as items from etl.pages');
  expect(rows).toEqual([{ items: 10_000 }]);
  const scope = { operations: ['user-operations'] } as const;
  expect(await differences(pool, seed, chain, scope)).toEqual({});
});

test('memory stays flat over pages with two megabytes of text in one item', async () => {
  const { pool, chain, sync } = await openScene(['string-of-1-mb']);
  const { states, grownBytes } = await sync();
  expect(states).toEqual(['finished']);
  expect(grownBytes).toBeLessThan(mostGrowth);
  const { rowCount } = await pool.query('select from explorer.user_operations');
  expect(rowCount).toBe(chain.userOperations);
});
