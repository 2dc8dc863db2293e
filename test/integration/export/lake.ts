import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import type { exportDocument } from '../../../src/cli/export.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { call, emptyFolder } from '../../harness/process.ts';
import type { OpenDatabase } from '../../harness/database.ts';
import { openCopy, plainChain } from '../../harness/sync.ts';

type ExportDocument = z.infer<typeof exportDocument>;

/** Two chains, copied. */
export async function copiedChains(): Promise<OpenDatabase> {
  const chains = [plainChain, { ...plainChain, id: 8453, name: 'base' }].map((chain) => ({
    ...chain,
    userOperations: 150,
    batches: { first: 1, count: 3, blocks: 20 },
    factories: 12,
  }));
  const { database, sync } = await openCopy(chains, { seed: 7 });
  await sync({ operations: operationNames });
  return database;
}

/** A folder to export to, and what is in it. */
export async function openLake({ url }: Pick<OpenDatabase, 'url'>) {
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
    /** Paths of files below the folder, without the mark and hidden folders of exports. */
    async paths(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .filter((path) => !path.startsWith('.explorer-etl-export'))
        .toSorted();
    },
    /** What exports left beside the folder, and their hidden folders in it. */
    left: async () => [
      ...(await readdir(dirname(folder))).filter((name) => name !== 'lake'),
      ...(await readdir(folder)).filter((name) => name.startsWith('.explorer-etl-export.')),
    ],
  };
}
