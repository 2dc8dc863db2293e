import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import type { SimulatedChain } from '../../../simulator/index.ts';
import type { exportDocument } from '../../../src/cli/export.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { simulated } from '../../harness/explorer.ts';
import { call, emptyFolder } from '../../harness/process.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';

type ExportDocument = z.infer<typeof exportDocument>;

const chain = (id: number, name: string): SimulatedChain => ({
  id,
  name,
  family: 'optimism',
  generation: 'v12',
  userOperations: 150,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 12,
});

/** Two chains, copied. */
export async function copiedChains(): Promise<TestDatabase> {
  const chains = [chain(10, 'optimism'), chain(8453, 'base')];
  const simulator = await simulated({ seed: 7, chains });
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains, operations: operationNames });
  return database;
}

/** A folder to export to, and what is in it. */
export async function openLake({ url }: Pick<TestDatabase, 'url'>) {
  const folder = join(await emptyFolder(), 'lake');
  const run = (args: readonly string[] = []) =>
    call(['export', ...args, '--to', folder, '--json'], { env: { DATABASE_URL: url } });
  return {
    folder,
    /** Runs the command; it is to end well. Gives the outcome of each relation, by name. */
    async exported(args: readonly string[] = []) {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
      const { relations } = JSON.parse(stdout) as ExportDocument;
      return new Map(relations.map((relation) => [relation.name, relation]));
    },
    run,
    /** Paths of files below the folder, the mark of an export aside. */
    async paths(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => !entry.isDirectory() && entry.name !== '.explorer-etl-export')
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .toSorted();
    },
    /** What is beside the folder. */
    beside: async () => (await readdir(dirname(folder))).filter((name) => name !== 'lake'),
  };
}
