import { onTestFailed, onTestFinished } from 'vitest';
import {
  startSimulator,
  type Family,
  type Generation,
  type SimulatedChain,
  type Simulator,
} from '../../simulator/index.ts';
import { freshDatabase, type TestDatabase } from '../harness/database.ts';
import { configFolder, type ProgramEnvironment } from '../harness/process.ts';

/** Never within a test: feeds that have not succeeded start at once, without their schedule. */
const yearly = '0 0 1 1 *';

/** The most that a configuration may say: the explorer's latency is what paces these worlds. */
const requestsPerSecond = 1000;

/** A slow answer, in ms: few are given while a busy machine gets round to a kill. */
const slowMs = 2_000;

/** A chain in a database of its own, and what a process needs to copy it. */
export interface FaultWorld {
  readonly seed: number;
  readonly chain: SimulatedChain;
  readonly simulator: Simulator;
  readonly database: TestDatabase;
  readonly environment: ProgramEnvironment;
  /** Has the explorer answer slowly once it has received so many requests. */
  readonly slowAfter: (requests: number) => void;
}

/** One configuration that ranges over all of a chain's batches. */
const chainConfig = ({ id, name, batches: { first, count } }: SimulatedChain) => ({
  id,
  name,
  operations: {
    'user-operations': { schedule: yearly },
    'optimism-batches': { schedule: yearly },
    'optimism-batch-blocks': {
      schedule: yearly,
      from_batch: first,
      to_batch: first + count - 1,
    },
    factories: { schedule: yearly },
  },
});

const families: readonly Family[] = ['optimism', 'arbitrum', 'celo'];
const generations: readonly Generation[] = ['v12', 'v11', 'v10'];

/** A small chain whose family, generation and oddities follow from the seed. */
function chainOf(seed: number): SimulatedChain {
  return {
    id: 10,
    name: 'optimism',
    family: families[seed % families.length] ?? 'optimism',
    generation: generations[Math.floor(seed / families.length) % generations.length] ?? 'v12',
    userOperations: 1500,
    batches: { first: 1, count: 35, blocks: 30 },
    gaps: [4],
    factories: 400,
    oddities: [
      'duplicates-in-page',
      'duplicates-across-pages',
      'empty-page-with-cursor',
      'missing-hash',
    ],
  };
}

/** Opens the world of a seed. A failure of the running test prints `repeat`. */
export async function openWorld(
  seed: number,
  { latencyMs, repeat }: { readonly latencyMs: number; readonly repeat: string },
): Promise<FaultWorld> {
  onTestFailed(() => void process.stderr.write(`seed ${seed}; repeat with: ${repeat}\n`));
  const chain = chainOf(seed);
  let slowFrom = Infinity;
  const simulator: Simulator = await startSimulator({
    seed,
    chains: [chain],
    get latencyMs() {
      return simulator.requests > slowFrom ? slowMs : latencyMs;
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: requestsPerSecond, page_size: 10 },
    chains: [chainConfig(chain)],
  });
  const environment = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  const slowAfter = (requests: number) => void (slowFrom = requests);
  return { seed, chain, simulator, database, environment, slowAfter };
}
