import { once } from 'node:events';
import { expect, test } from 'vitest';
import { migrate } from '../../../src/db/migrate.ts';
import { eventually, hangMs } from '../../harness/process.ts';
import { migrateInProcess, release } from './release.ts';
import { best, exists, first, firstRelease, items, namesOf, stock } from './view-release.ts';

test('of two concurrent migrates, one creates the views', async () => {
  const { pool, url, folder } = await firstRelease();
  await release(
    folder,
    { 1: stock },
    { ...first, 'etl/best': best.replace('name from', '2 as n, name from') },
  );
  const both = [migrateInProcess(url, folder), migrateInProcess(url, folder)];
  const results = await Promise.all(both.map(({ migrated }) => migrated));
  expect(results).toContainEqual({ applied: 0, views: 3 });
  expect(results).toContainEqual({ applied: 0, views: 0 });
  expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
});

test('a migrate that is killed leaves the previous views, and the next one creates the new ones', async () => {
  const { pool, url, folder } = await firstRelease();
  const slow = `do $$ begin perform pg_sleep(${hangMs / 1000}); end $$;\n`;
  await release(folder, { 1: stock }, { 'etl/items': items, 'etl/zzz': slow });
  const { child, migrated } = migrateInProcess(url, folder);
  migrated.catch(() => undefined);
  await eventually('the last file to run', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
    );
    return rows.length > 0;
  });
  child.kill('SIGKILL');
  await once(child, 'close');
  await pool.query(`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`);
  expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
  await release(folder, { 1: stock }, { 'etl/items': items });
  await migrate(pool, [], folder);
  expect(await exists(pool, 'etl.best')).toBe(false);
});
