import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call, emptyFolder, startProgram } from '../../harness/process.ts';
import { plainChain } from '../../harness/sync.ts';
import { yearly } from '../../harness/world.ts';

export const seed = 7;

const chainOf = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: id === 10 ? 'optimism' : 'base',
  userOperations: 130,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 30,
});

/** Two chains with a little of each kind of list. */
export const chains = [10, 8453].map(chainOf);

/** One list of each kind. */
export const everyKind = ['user-operations', 'optimism-batch-blocks', 'factories'] as const;

type Lists = Readonly<Record<string, object>>;
export type ChainsOfFile = Readonly<Record<number, Lists>>;

export const listed = (names: readonly string[], settings: object = {}): Lists =>
  Object.fromEntries(names.map((name) => [name, { schedule: yearly, ...settings }]));

/** A simulated explorer, a database, and deployments on it: each has a folder with a file of its own. */
export async function openDeployments({
  latencyMs = 0,
  userOperations = 130,
  ids = [10, 8453],
} = {}) {
  const own = ids.map((id) => ({ ...chainOf(id), userOperations }));
  const simulator = await simulated({ seed, chains: own, latencyMs });
  const database = await freshDatabase();
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  /** A deployment whose file names these lists by chain. */
  const deploy = async (deployment: string, first: ChainsOfFile) => {
    const cwd = await emptyFolder();
    const write = (chainsOfFile: ChainsOfFile) =>
      writeFile(
        join(cwd, 'explorer-etl.yaml'),
        // JSON is YAML.
        JSON.stringify({
          deployment,
          explorer: { requests_per_second: 1000 },
          chains: Object.entries(chainsOfFile).map(([id, operations]) => ({
            id: Number(id),
            operations,
          })),
        }),
      );
    await write(first);
    const run = (...args: readonly string[]) =>
      call([...args, '--log-level', 'silent', '--quiet'], { env, cwd });
    return {
      write,
      run,
      documentOf: async <Document>(...args: readonly string[]) =>
        JSON.parse((await run(...args, '--json')).stdout) as Document,
      start: (...args: readonly string[]) =>
        startProgram(['start', '--log-format', 'json', ...args], {
          databaseUrl: database.url,
          explorerUrl: simulator.url,
          cwd,
        }),
    };
  };
  return { database, simulator, deploy };
}
