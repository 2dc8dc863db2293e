import { onTestFailed } from 'vitest';
import type {
  Family,
  Generation,
  SimulatedChain,
  SimulatorOptions,
} from '../../simulator/index.ts';
import { simulated } from './explorer.ts';
import { plainChain } from './sync.ts';
import { freshDatabase, type OpenDatabase } from './database.ts';
import { configFolder } from './process.ts';
import { openDatabaseProxy } from './servers.ts';

/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
export const yearly = '0 0 1 1 *';

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v12', 'v11', 'v10'];

/** A plain chain, its family and generation as follows from a seed. */
export const chainOfSeed = (seed: number): SimulatedChain => ({
  ...plainChain,
  family: families[(seed - 1) % families.length] ?? 'optimism',
  generation: generations[(seed - 1) % generations.length] ?? 'v12',
});

export interface WorldOptions extends Omit<SimulatorOptions, 'chains' | 'latencyMs'> {
  readonly chain: SimulatedChain;
  /** All that the explorer serves; `chain` alone if absent. */
  readonly chains?: readonly SimulatedChain[];
  /** How long an answer waits, in ms; not at all if absent. */
  readonly latency?: () => number;
  /** What is copied, each with its settings in the configuration; `yearly` if it names no schedule. */
  readonly operations?: Readonly<Record<string, object>>;
  /** The section `explorer` of the configuration. */
  readonly explorer?: object;
  /** A fresh one if absent. */
  readonly database?: OpenDatabase;
  /** The command that runs a failed test again with its seed. */
  readonly repeat?: string;
}

/**
 * Opens a simulated chain, a database, and what a process needs to copy the one into the other; all of it ends with
 * the running test.
 */
export async function openWorld(options: WorldOptions) {
  const {
    chain,
    chains = [chain],
    latency,
    operations = {},
    explorer,
    repeat,
    ...service
  } = options;
  const { seed } = options;
  if (repeat !== undefined) {
    onTestFailed(() => void process.stderr.write(`seed ${seed}; repeat with: ${repeat}\n`));
  }
  const simulator = await simulated({
    ...service,
    chains,
    get latencyMs() {
      return latency?.() ?? 0;
    },
  });
  const database = options.database ?? (await freshDatabase());
  const proxy = await openDatabaseProxy(database.url);
  const scheduled = Object.entries(operations).map(([name, own]) => [
    name,
    { schedule: yearly, ...own },
  ]);
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000, ...explorer },
    chains: [{ id: chain.id, name: chain.name, operations: Object.fromEntries(scheduled) }],
  });
  const place = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  // The proxy cuts sessions off; `place` has the database itself.
  return { seed, chain, simulator, database, proxy, place };
}

export type World = Awaited<ReturnType<typeof openWorld>>;
