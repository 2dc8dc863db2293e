import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { withAdvisoryLock } from '../../../src/db/lock.ts';
import { migrate, type Migrated } from '../../../src/db/migrate.ts';
import { MigrationError } from '../../../src/db/migration-error.ts';
import { listNames } from '../../../src/lists/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { migrateUrl } from '../../harness/migrate.ts';

const migrator = new URL('../../harness/migrate.ts', import.meta.url).href;

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(inject('directoryPrefix'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a folder `migrations` as drizzle-kit does, and an empty one of views: each migration creates the table of its name. */
async function writeMigrations(folder: string, whens: Record<string, number>): Promise<void> {
  const migrations = join(folder, 'migrations');
  await mkdir(join(migrations, 'meta'), { recursive: true });
  await mkdir(join(folder, 'sql'), { recursive: true });
  const entries = Object.entries(whens).map(([tag, when], idx) => ({
    idx,
    version: '7',
    when,
    tag,
    breakpoints: true,
  }));
  for (const { tag } of entries) {
    await writeFile(join(migrations, `${tag}.sql`), `create table ${tag} (n int);\n`);
  }
  await writeFile(
    join(migrations, 'meta', '_journal.json'),
    JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
  );
}

async function migrateInProcess(url: string): Promise<Migrated> {
  const code = `
    import { migrateUrl } from ${JSON.stringify(migrator)};
    console.log(JSON.stringify(await migrateUrl(${JSON.stringify(url)})));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout)) as Migrated;
}

describe('migrate', () => {
  test('makes an empty database current, and finds nothing to do again', async () => {
    const empty = await freshDatabase('empty');
    const first = await migrate(empty.pool, listNames());
    expect(first.applied).toBeGreaterThan(0);
    expect(await migrateUrl(empty.url)).toEqual({ applied: 0, views: 0 });
  });

  test('lets four processes start at once', async () => {
    const empty = await freshDatabase('empty');
    const results = await Promise.all(Array.from({ length: 4 }, () => migrateInProcess(empty.url)));
    expect(results.filter(({ applied }) => applied > 0)).toHaveLength(1);
    expect(results).toHaveLength(4);
  });

  test('applies only what is new', async () => {
    const empty = await freshDatabase('empty');
    const folder = await freshFolder();
    await writeMigrations(folder, { one: 1 });
    expect(await migrate(empty.pool, listNames(), folder)).toEqual({ applied: 1, views: 0 });
    await writeMigrations(folder, { one: 1, two: 2, three: 3 });
    expect(await migrate(empty.pool, listNames(), folder)).toEqual({ applied: 2, views: 0 });
  });

  test('refuses a database that a newer version migrated', async () => {
    const empty = await freshDatabase('empty');
    const folder = await freshFolder();
    await writeMigrations(folder, { one: 1, two: 2 });
    await migrate(empty.pool, listNames(), folder);
    await writeMigrations(folder, { one: 1 });
    const older = migrate(empty.pool, listNames(), folder);
    await expect(older).rejects.toThrow(MigrationError);
    await expect(older).rejects.toThrow(/newer version of explorer-etl/);
  });

  test('says so when an older migration would be skipped', async () => {
    const empty = await freshDatabase('empty');
    const folder = await freshFolder();
    await writeMigrations(folder, { one: 1, three: 3 });
    await migrate(empty.pool, listNames(), folder);
    await writeMigrations(folder, { one: 1, two: 2, three: 3 });
    await expect(migrate(empty.pool, listNames(), folder)).rejects.toThrow(/came after two/);
  });

  test('leaves nothing of a migration that fails, and frees its lock', async () => {
    const empty = await freshDatabase('empty');
    const folder = await freshFolder();
    await writeMigrations(folder, { one: 1, two: 2 });
    await writeFile(join(folder, 'migrations/two.sql'), 'create table two (n int); select 1 / 0;');
    await expect(migrate(empty.pool, listNames(), folder)).rejects.toThrow(/Failed query/);
    const { rows } = await empty.pool.query(`select to_regclass('public.one') as one`);
    expect(rows).toEqual([{ one: null }]);
    await writeMigrations(folder, { one: 1, two: 2 });
    expect(await migrateUrl(empty.url, folder)).toEqual({ applied: 2, views: 0 });
  });

  test('needs no rights to create when there is nothing to do', async () => {
    const database = await freshDatabase();
    const role = `reader_${process.pid}`;
    await database.pool.query(`
      create role ${role};
      grant usage on schema etl to ${role};
      grant select on etl.migrations, etl.view_migrations to ${role}`);
    const url = new URL(database.url);
    url.searchParams.set('options', `-c role=${role}`);
    try {
      expect(await migrateUrl(url.href)).toEqual({ applied: 0, views: 0 });
    } finally {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});

describe('an advisory lock', () => {
  const seven = { key: 7n, work: 'counts to seven' };

  test('lets one in at a time, in turn', async () => {
    const empty = await freshDatabase('empty');
    const events: string[] = [];
    async function enter(name: string): Promise<void> {
      await withAdvisoryLock(empty.pool, seven, async () => {
        events.push(`${name} in`);
        await empty.pool.query('select pg_sleep(0.02)');
        events.push(`${name} out`);
      });
    }
    await Promise.all([enter('a'), enter('b')]);
    expect(events.map((event) => event.split(' ')[1])).toEqual(['in', 'out', 'in', 'out']);
  });

  test('is free again after a failure inside', async () => {
    const empty = await freshDatabase('empty');
    const failing = withAdvisoryLock(empty.pool, seven, async () => {
      throw new Error('inside');
    });
    await expect(failing).rejects.toThrow('inside');
    expect(await withAdvisoryLock(empty.pool, seven, async () => 'entered')).toBe('entered');
  });
});
