import { describe, expect, onTestFinished, test } from 'vitest';
import { withAdvisoryLock } from '../../../src/db/lock.ts';
import { migrate, whileCurrent } from '../../../src/db/migrate.ts';
import { MigrationError } from '../../../src/db/failure.ts';
import { listViews } from '../../../src/lists/views.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { migrateUrl } from '../../harness/client.ts';
import { migrateInProcess, packageFolder, release } from './release.ts';

const table = (name: string) => `create table public.${name} (n int)`;
const [one, two, three] = [table('one'), table('two'), table('three')];

/** Migrates an empty database to releases, one after the other. */
async function upgrades() {
  const { pool, url } = await freshDatabase('empty');
  const folder = await packageFolder();
  const upgrade = async (migrations: Readonly<Record<number, string>>) => {
    await release(folder, migrations);
    return migrate(pool, [], folder);
  };
  return { pool, url, folder, upgrade };
}

describe('migrate', () => {
  test('makes an empty database current, and finds nothing to do again', async () => {
    const empty = await freshDatabase('empty');
    const first = await migrate(empty.pool, listViews());
    expect(first.applied).toBeGreaterThan(0);
    expect(await migrateUrl(empty.url)).toEqual({ applied: 0, views: 0 });
  });

  test('lets two processes start at once', async () => {
    const empty = await freshDatabase('empty');
    const results = await Promise.all(
      Array.from({ length: 2 }, () => migrateInProcess(empty.url).migrated),
    );
    expect(results.filter(({ applied }) => applied > 0)).toHaveLength(1);
    expect(results).toHaveLength(2);
  });

  test('applies only what is new', async () => {
    const { upgrade } = await upgrades();
    expect(await upgrade({ 1: one })).toEqual({ applied: 1, views: 0 });
    expect(await upgrade({ 1: one, 2: two, 3: three })).toEqual({ applied: 2, views: 0 });
  });

  test('goes on after a deadlock with workers of the older version', async () => {
    const { pool, upgrade } = await upgrades();
    await upgrade({ 1: one, 2: two });
    const worker = await pool.connect();
    onTestFinished(() => worker.release(true));
    // The migration is the one that Postgres ends.
    await worker.query(`set deadlock_timeout = '1min'`);
    await worker.query('begin');
    await worker.query('lock table public.two');
    const step = 'lock table public.one; --> statement-breakpoint\nlock table public.two;';
    const upgraded = upgrade({ 1: one, 2: two, 3: step });
    await untilLocked(pool, 1);
    await worker.query('lock table public.one');
    await worker.query('commit');

    expect(await upgraded).toEqual({ applied: 1, views: 0 });
  });

  test.each([
    ['that a newer version migrated', { 1: one, 2: two }, { 1: one }, /newer version of explorer/],
    [
      'whose later migrations came first',
      { 1: one, 3: three },
      { 1: one, 2: two, 3: three },
      /after step_2/,
    ],
  ])('refuses a database %s', async (_, before, after, message) => {
    const { upgrade } = await upgrades();
    await upgrade(before);
    const refused = upgrade(after);
    await expect(refused).rejects.toThrow(MigrationError);
    await expect(refused).rejects.toThrow(message);
  });

  test('leaves nothing of a migration that fails, and frees its lock', async () => {
    const { pool, url, folder, upgrade } = await upgrades();
    await expect(upgrade({ 1: one, 2: 'select 1 / 0' })).rejects.toThrow(/Failed query/);
    const { rows } = await pool.query(`select to_regclass('public.one') as one`);
    expect(rows).toEqual([{ one: null }]);
    await release(folder, { 1: one, 2: two });
    expect(await migrateUrl(url, folder)).toEqual({ applied: 2, views: 0 });
  });

  test('needs no rights to create when there is nothing to do', async () => {
    const database = await freshDatabase();
    const role = `reader_${process.pid}`;
    await database.query(`
      create role ${role};
      grant usage on schema etl to ${role};
      grant select on etl.migrations, etl.view_migrations to ${role}`);
    const url = new URL(database.url);
    url.searchParams.set('options', `-c role=${role}`);
    try {
      expect(await migrateUrl(url.href)).toEqual({ applied: 0, views: 0 });
    } finally {
      await database.query(`drop owned by ${role}; drop role ${role}`);
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

describe('work on a database', () => {
  const running = (signal: AbortSignal) =>
    new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped')));

  test.each([
    [
      'tables',
      'insert into etl.migrations (hash, created_at) select hash, created_at + 1000000 from etl.migrations',
    ],
    ['views', `update etl.view_migrations set program = '999.10.0', hash = 'another'`],
  ])('stops once a newer version made its %s, which are not replaced', async (_, newer) => {
    const { pool } = await freshDatabase();
    const { signal } = new AbortController();
    const stopped = whileCurrent(pool, signal, running, 100).catch((error: unknown) => error);
    await pool.query(newer);
    await expect(migrate(pool, listViews())).rejects.toThrow(/newer version of explorer-etl/);
    const error = await stopped;
    expect(error).toBeInstanceOf(MigrationError);
    expect(String(error)).toMatch(/by a newer version of explorer-etl: update this program/);
  });

  test('makes the views of an older version again', async () => {
    const { pool } = await freshDatabase();
    await pool.query(`update etl.view_migrations set program = '0.0.9', hash = 'another'`);
    expect((await migrate(pool, listViews())).views).toBeGreaterThan(40);
  });

  test('ends on its own or by its signal if the version stays the same', async () => {
    const { pool } = await freshDatabase();
    const stop = new AbortController();
    expect(await whileCurrent(pool, stop.signal, async () => 'done')).toBe('done');
    const work = whileCurrent(pool, stop.signal, running);
    stop.abort();
    expect(await work).toBe('stopped');
  });
});
