import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/db/migrate.ts';
import { isPrepared } from '../../../src/db/state.ts';
import { MigrationError } from '../../../src/db/failure.ts';
import { listViews } from '../../../src/lists/views.ts';
import { freshDatabase } from '../../harness/database.ts';
import { migrateUrl } from '../../harness/client.ts';
import { eventually } from '../../harness/process.ts';
import { release } from './release.ts';
import {
  best,
  exists,
  first,
  firstRelease,
  isGood,
  items,
  namesOf,
  stock,
} from './view-release.ts';

test('a second migrate writes nothing', async () => {
  const { url } = await freshDatabase();
  const readOnly = new URL(url);
  readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
  expect(await migrateUrl(readOnly.href)).toEqual({ applied: 0, views: 0 });
});

test('migrate re-creates every view, function and trigger of a migrated database', async () => {
  const { query } = await freshDatabase();
  const rows = await query('select objects as made from etl.view_migrations');
  const found = await query(`
    select 'view ' || oid::regclass as object from pg_class
    where relkind in ('v', 'm') and relnamespace::regnamespace::text in ('etl', 'explorer')
    union all
    select 'function ' || oid::regproc from pg_proc
    where pronamespace::regnamespace::text in ('etl', 'explorer')
    union all
    select 'trigger ' || tgname || ' on ' || tgrelid::regclass from pg_trigger
    where not tgisinternal`);
  expect(found.length).toBeGreaterThan(50);
  expect(new Set(found.map(({ object }) => object))).toEqual(new Set(rows[0]?.made));
});

test('a view or function that was dropped is made again', async () => {
  for (const dropped of ['view etl.best', 'function etl.is_good']) {
    const { pool, upgrade } = await firstRelease();
    await pool.query(`drop ${dropped} cascade`);
    expect(await upgrade(first)).toEqual({ applied: 0, views: 3 });
    expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
    expect(await upgrade(first)).toEqual({ applied: 0, views: 0 });
  }
});

test('a changed file is applied, and views of others stay', async () => {
  const { pool, upgrade } = await firstRelease();
  await pool.query('create view public.mine as select name from etl.best');
  const changed = { ...first, 'etl/is_good': isGood.replace('1', '0') };
  expect(await upgrade(changed)).toEqual({ applied: 0, views: 3 });
  expect(await namesOf(pool, 'public.mine')).toEqual(['a', 'b']);
});

test('a table that Citus distributes gets no trigger, and its function stays', async () => {
  const { pool, upgrade } = await firstRelease();
  await pool.query(`
    begin;
    set local allow_system_table_mods = on;
    create table pg_catalog.pg_dist_partition as
      select 'etl.stock'::regclass as logicalrelid, 'h'::char as partmethod;
    commit;
    create table etl.local ()`);
  const onTable = (table: string) => `create or replace trigger note_${table}
after update on etl.${table}
for each row when (old is distinct from new)
execute function etl.note();
`;
  const note = `create or replace function etl.note() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$ begin return null; end $$;

${onTable('stock')}
${onTable('local')}`;
  await upgrade({ ...first, 'etl/note': note });
  const { rows } = await pool.query('select tgname from pg_trigger where not tgisinternal');
  expect(rows).toEqual([{ tgname: 'note_local' }]);
});

test('a view that is re-created keeps its owner, and the rights of others', async () => {
  const { pool, upgrade } = await firstRelease();
  const role = `keeper_${process.pid}`;
  await pool.query(`
    create role ${role};
    alter view etl.items owner to ${role};
    grant select on etl.items to public`);
  onTestFinished(() =>
    pool.query(`drop owned by ${role} cascade; drop role ${role}`).then(() => undefined),
  );
  const rights = async () =>
    (await pool.query(`select oid, relowner, relacl from pg_class where relname = 'items'`))
      .rows[0];
  const before = await rights();
  await upgrade({ ...first, 'etl/items': items.replace('id, name', 'name, id') });
  const after = await rights();
  expect(after).toEqual({ ...before, oid: after.oid });
  expect(after.oid).not.toBe(before.oid);
});

test('changed columns re-create the view and all that is built on it', async () => {
  const { pool, upgrade } = await firstRelease();
  await upgrade({ ...first, 'etl/items': items.replace('id, name', "name || '!' as name, id") });
  expect(await namesOf(pool, 'etl.best')).toEqual(['b!']);
});

test('a function with other parameters replaces the previous one', async () => {
  const { pool, upgrade } = await firstRelease();
  const other = isGood.replace('id int', 'id int, above int default 0').replace('1', 'above');
  await upgrade({ ...first, 'etl/is_good': other });
  expect(await namesOf(pool, 'etl.best')).toEqual(['a', 'b']);
  const { rows } = await pool.query(`select from pg_proc where proname = 'is_good'`);
  expect(rows).toHaveLength(1);
});

test('a deleted file drops its view', async () => {
  const { pool, upgrade } = await firstRelease();
  const { 'etl/best': _, ...others } = first;
  expect(await upgrade(others)).toEqual({ applied: 0, views: 2 });
  expect(await exists(pool, 'etl.best')).toBe(false);
  expect(await exists(pool, 'etl.items')).toBe(true);
});

test.each([
  ['has other columns', { ...first, 'etl/best': best.replace('name from', '2 as n, name from') }],
  ['has other columns below it', { ...first, 'etl/items': items.replace('id, name', 'name, id') }],
  ['is gone', { 'etl/items': items }],
])(
  'migrate names what others have built on a view that %s, and changes nothing',
  async (_, views) => {
    const { pool, upgrade } = await firstRelease();
    await pool.query('create materialized view public.mine as select name from etl.best');
    const upgraded = upgrade(views);
    await expect(upgraded).rejects.toThrow(MigrationError);
    await expect(upgraded).rejects.toThrow(
      /can't be changed because materialized view public\.mine depends on view etl\.best: drop it, migrate, and create it again/,
    );
    expect(await namesOf(pool, 'public.mine')).toEqual(['b']);
    expect(await namesOf(pool, 'etl.best')).toEqual(['b']);

    await pool.query('drop materialized view public.mine');
    expect((await upgrade(views)).views).toBeGreaterThan(0);
  },
);

test("a user's view with the name of a new one is not overwritten", async () => {
  const { pool, upgrade } = await firstRelease();
  await pool.query('create view etl.worst as select 1 as mine');
  const worst = 'create or replace view etl.worst as select name from etl.items;\n';
  await expect(upgrade({ ...first, 'etl/worst': worst })).rejects.toThrow(/view etl\.worst/);
  expect((await pool.query('select mine from etl.worst')).rows).toEqual([{ mine: 1 }]);
});

test('views that a migration drops are re-created, even by a later migrate', async () => {
  const { pool, folder } = await firstRelease();
  const wider = `drop view etl.best; drop view etl.items;
    alter table etl.stock alter column name type varchar(9);`;
  await release(folder, { 1: stock, 2: wider }, { ...first, 'etl/wrong': 'select 1 / 0;\n' });
  await expect(migrate(pool, [], folder)).rejects.toThrow(/division by zero/);
  expect(await exists(pool, 'etl.best')).toBe(false);
  await release(folder, { 1: stock, 2: wider }, first);
  expect(await migrate(pool, [], folder)).toEqual({ applied: 0, views: 3 });
  expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
});

test('migrate waits for a long query on a view, and others still read it meanwhile', async () => {
  const { pool, folder } = await firstRelease();
  const reader = await pool.connect();
  await reader.query('begin; select from etl.best');
  await release(folder, { 1: stock }, { 'etl/items': items });
  const lines: string[] = [];
  const signal = new AbortController().signal;
  const migrated = migrate(pool, [], folder, { signal, report: (line) => lines.push(line) });
  await eventually('it to say that it waits', async () => lines.length > 0);
  expect(await namesOf(pool, 'etl.best')).toEqual(['b']);
  await reader.query('commit');
  reader.release();
  expect(await migrated).toEqual({ applied: 0, views: 1 });
  expect(lines[0]).toContain('Waiting for a session that uses a view');
});

test('commands that only read refuse a database without its views', async () => {
  const { pool } = await freshDatabase('empty');
  await pool.query('create schema etl; create table etl.runs (id int)');
  expect(await isPrepared(pool)).toBe(false);
  await pool.query('drop schema etl cascade');
  await migrate(pool, listViews());
  expect(await isPrepared(pool)).toBe(true);
});
