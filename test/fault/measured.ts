import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OperationName, SimulatedChain } from '../../simulator/index.ts';
import { type FaultName, openFault } from '../harness/hostile-faults.ts';
import { plainChain } from '../harness/sync.ts';
import { openWorld } from '../harness/world.ts';
import type { Measured, MeasuredInput } from './measured-process.ts';
import { firstId } from './struck-world.ts';

export const seed = 23;
const program = join(import.meta.dirname, './measured-process.ts');

/** The most that a process may grow by, whatever it is served, in bytes. */
export const mostGrowth = 256 * 1024 * 1024;

/** What Node allows itself in a container of 512 MB. */
const heapOfContainer = ['--max-old-space-size=256', '--max-semi-space-size=8'];

/** Enough that what piles up is seen: more pages than are in memory at once, or one of all items. */
const operationsOf: Partial<Record<FaultName, number>> = {
  'page-of-500': 600,
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
  const args = [...heapOfContainer, program, JSON.stringify(input)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Measured;
}

interface MeasuredOptions extends Partial<MeasuredInput> {
  /** The lists that meet the faults; all if absent. */
  readonly struck?: readonly OperationName[];
}

/** An explorer with a chain for each fault, which meets it all the time, and a sync of it in a process. */
export async function openMeasured(
  names: readonly FaultName[],
  { operations = ['user-operations'], timeouts = {}, struck }: MeasuredOptions = {},
) {
  const chains = names.map(chainOf);
  const faults = names.map((name) => openFault(name));
  const { simulator, database, chain } = await openWorld({
    seed,
    chain: chains[0] ?? plainChain,
    chains,
    faults: ({ chainId, operation }) =>
      struck?.some((name) => name === operation) === false
        ? null
        : (faults[chainId - firstId] ?? null),
  });
  const { url } = simulator;
  const input = { url, databaseUrl: database.url, chains, operations, timeouts };
  return { pool: database.pool, query: database.query, chain, sync: () => measure(input) };
}
