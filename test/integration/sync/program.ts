import type { SimulatedChain, SimulatorOptions } from '../../../simulator/index.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call, configFolder } from '../../harness/process.ts';
import { freshDatabase, type OpenDatabase } from '../../harness/database.ts';
import { truth } from '../../truth/truth.ts';
import { plainChain } from '../../harness/sync.ts';

const seed = 41;
export const pageSize = 50;

/** The newest operation is two hours old: a source that has stopped is not healthy. */
export const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 750,
  batches: { first: 1, count: 12, blocks: 60 },
  factories: 40,
  startsAtMs: Date.now() - 2 * 3_600_000,
};

const operations = truth(seed, chain, { operations: ['user-operations'] }).user_operations;

/** What is at a share of the list in order, 0 at its lowest. */
function at(values: readonly number[], share: number): number {
  const known = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return known[Math.floor(known.length * share)] ?? 0;
}

/** A time by its share of the operations, 0 at the oldest. */
export const timeAt = (share: number): string =>
  new Date(
    at(
      operations.map((row) => Date.parse(String(row['timestamp']))),
      share,
    ),
  ).toISOString();

export const blocks = operations.map((row) => Number(row['block_number']));

/** A block by its share of the operations, 0 at the lowest. */
export const blockAt = (share: number): number => at(blocks, share);

/** The pages of the operations above a share of them. */
export const pagesAfter = (share: number) => ((1 - share) * chain.userOperations) / pageSize;

interface ProgramOptions extends Partial<SimulatorOptions> {
  /** The lists of the chain in the configuration; without them there is no file. */
  readonly operations?: object;
  readonly explorer?: object;
  readonly name?: string;
  /** Another explorer than the simulated one. */
  readonly url?: string;
  /** Further variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** A fresh one if absent. */
  readonly database?: OpenDatabase;
}

/** The program on a database, a simulated explorer and a folder of its own. */
export async function openProgram(options: ProgramOptions = {}) {
  const { operations: lists, explorer, name = chain.name, url, env: more, ...service } = options;
  let requests = 0;
  let stop = { after: Infinity, by: new AbortController() };
  const simulator = await simulated({
    seed,
    chains: [chain],
    ...service,
    onRequest(seen) {
      service.onRequest?.(seen);
      requests += 1;
      if (requests === stop.after) stop.by.abort();
    },
  });
  const database = options.database ?? (await freshDatabase());
  const config = {
    explorer: { requests_per_second: 1000, ...explorer },
    chains: [{ id: chain.id, name, operations: lists }],
  };
  const folder = lists === undefined ? {} : { cwd: await configFolder(config) };
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: url ?? simulator.url,
    EXPLORER_API_KEY: testKey,
    ...more,
  };
  /** Runs a command; says what it cost. */
  const run = async (...args: readonly string[]) => {
    const before = requests;
    const { signal } = stop.by;
    const ended = await call([...args, '--log-level', 'silent'], { env, ...folder, signal });
    return { ...ended, requests: requests - before };
  };
  return {
    database,
    run,
    env,
    ...folder,
    ...database,
    /** What a command says as a document. */
    documentOf: async <Document>(...args: readonly string[]) =>
      JSON.parse((await run(...args, '--json')).stdout) as Document,
    /** A command that stops after so many requests. */
    interrupted: async (after: number, ...args: readonly string[]) => {
      stop = { after: requests + after, by: new AbortController() };
      const ended = await run(...args);
      stop = { after: Infinity, by: new AbortController() };
      return ended;
    },
  };
}

const today = () => new Date().toISOString().slice(0, 10);

/** Runs a test that rests on a day's credits, and once more where a midnight fell into it. */
export async function withinADay(run: () => Promise<void>): Promise<void> {
  const day = today();
  try {
    await run();
  } catch (error) {
    if (today() === day) throw error;
    await run();
  }
}
