import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import type { Migrated } from '../../../src/db/migrate.ts';

/** A folder in place of a package, for the running test. */
export async function packageFolder(): Promise<string> {
  const folder = await mkdtemp(inject('directoryPrefix'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a package's `migrations` by their time, as drizzle-kit does, and its `sql` with these views alone. */
export async function release(
  folder: string,
  migrations: Readonly<Record<number, string>>,
  views: Readonly<Record<string, string>> = {},
): Promise<void> {
  await rm(join(folder, 'sql'), { recursive: true, force: true });
  await mkdir(join(folder, 'migrations/meta'), { recursive: true });
  await mkdir(join(folder, 'sql/views/etl'), { recursive: true });
  const entries = Object.keys(migrations).map((when, idx) => {
    return { idx, version: '7', when: Number(when), tag: `step_${when}`, breakpoints: true };
  });
  for (const { tag, when } of entries) {
    await writeFile(join(folder, `migrations/${tag}.sql`), migrations[when] ?? '');
  }
  const journal = { version: '7', dialect: 'postgresql', entries };
  await writeFile(join(folder, 'migrations/meta/_journal.json'), JSON.stringify(journal));
  for (const [name, sql] of Object.entries(views)) {
    await writeFile(join(folder, 'sql/views', `${name}.sql`), sql);
  }
}

const migrator = new URL('../../harness/client.ts', import.meta.url).href;

/** Migrates in a process of its own; without a folder, to the program's own schema. */
export function migrateInProcess(url: string, folder?: string) {
  const code = `
    import { migrateUrl } from ${JSON.stringify(migrator)};
    console.log(JSON.stringify(await migrateUrl(...${JSON.stringify([url, folder ?? []].flat())})));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const migrated = text(child.stdout).then((line) => JSON.parse(line) as Migrated);
  return { child, migrated };
}
