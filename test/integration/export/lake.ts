import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../../src/simulator/index.ts';
import { call } from '../../support/call.ts';
import { emptyFolder } from '../../support/child.ts';
import { freshDatabase, type TestDatabase } from '../../support/database.ts';
import { operationNames } from '../../../src/operations/index.ts';
import { runSync } from '../../support/sync.ts';

const chain = (id: number, name: string): SimulatedChain => ({
  id,
  name,
  family: 'optimism',
  generation: 'v12',
  userOperations: 150,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 12,
});

/** Two chains, copied a while ago: nothing of them is as new as an export. */
export async function copiedChains(): Promise<TestDatabase> {
  const chains = [chain(10, 'optimism'), chain(8453, 'base')];
  const simulator = await startSimulator({ seed: 7, chains });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  await runSync(database, { url: simulator.url, chains, operations: operationNames });
  await ageRows(database);
  return database;
}

/** Has all rows written an hour earlier. */
export async function ageRows({ pool }: Pick<TestDatabase, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p') and not relispartition
       and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'updated_at')`,
  );
  for (const { name } of rows) {
    await pool.query(`update explorer.${name} set updated_at = updated_at - interval '1 hour'`);
  }
}

export interface ListedFile {
  readonly path: string;
  readonly chain_id: string | null;
  readonly day: string | null;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly as_of: string;
}

export interface ListedRelation {
  readonly name: string;
  readonly layout: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly files: readonly ListedFile[];
}

interface FileCounts {
  readonly written: number;
  readonly kept: number;
  readonly removed: number;
}

/** A folder to export to, and what is in it. */
export async function openLake({ url }: Pick<TestDatabase, 'url'>) {
  const folder = join(await emptyFolder(), 'lake');
  const run = (args: readonly string[] = []) =>
    call(['export', ...args, '--to', folder, '--json'], { env: { DATABASE_URL: url } });
  const manifest = async () => {
    const text = await readFile(join(folder, 'manifest.json'), 'utf8');
    const { relations, ...head } = JSON.parse(text) as { relations: ListedRelation[] };
    return { ...head, relations };
  };
  return {
    folder,
    /** Runs the command; it is to end well. Gives the outcome of each relation, by name. */
    async exported(args: readonly string[] = []) {
      const { code, stdout, stderr } = await run(args);
      if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
      const { relations } = JSON.parse(stdout) as {
        relations: { name: string; rows: number; files: FileCounts }[];
      };
      return new Map(relations.map(({ name, rows, files }) => [name, { name, rows, ...files }]));
    },
    run,
    manifest,
    async files(name: string): Promise<readonly ListedFile[]> {
      return (await manifest()).relations.find((one) => one.name === name)?.files ?? [];
    },
    /** Paths below the folder, the lock aside. */
    async paths(): Promise<string[]> {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && entry.name !== '.lock')
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .toSorted();
    },
  };
}

export type Lake = Awaited<ReturnType<typeof openLake>>;
