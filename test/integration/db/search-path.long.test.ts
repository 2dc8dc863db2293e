import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { demandSession } from '../../../src/db/route.ts';
import { openWorkPools, workTimeouts } from '../../../src/db/pool.ts';
import { queryOnce } from '../../harness/client.ts';
import { testKey } from '../../harness/explorer.ts';
import { freshDatabase, type OpenDatabase } from '../../harness/database.ts';
import { call } from '../../harness/process.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';
import { openWorld } from '../../harness/world.ts';

/** A hostile twin of each function, operator and table of Postgres, and of some types, before it in the search path. */
const twins = `
  create schema hostile;
  create function hostile.trap() returns boolean language plpgsql as
    $$ begin raise exception 'hostile code runs as %', current_user; end $$;

  do $make$
  declare
    name text;
    statement text;
  begin
    -- The same functions, and those without "any", which the planner prefers: format(text, text) to format(text, variadic "any").
    for statement in
      select format(
               'create function hostile.%I(%s) returns %s%s language plpgsql as $$ begin perform hostile.trap(); end $$',
               proname, arguments, case when proretset then 'setof ' else '' end,
               format_type(prorettype, null))
      from pg_proc, unnest(case
        when proname = 'format' then array['text, text', 'text, name', 'text, name, text', 'text, text, text']
        when proname in ('concat', 'concat_ws') then array['text, text', 'text, text, text']
        when proname in ('jsonb_build_object', 'json_build_object') then array['text, text', 'text, bigint']
        else array[pg_get_function_identity_arguments(oid)]
      end) as arguments
      where pronamespace = 'pg_catalog'::regnamespace and prokind = 'f'
    loop
      -- Some take or return what only an internal function may.
      begin execute statement; exception when others then null; end;
    end loop;
    for statement in
      select format(
               'create function hostile.operator_%1$s(%2$s) returns %3$s language plpgsql as $$ begin perform hostile.trap(); end $$;
                create operator hostile.%4$s (function = hostile.operator_%1$s, %5$s)',
               oid,
               concat_ws(', ', format_type(nullif(oprleft, 0), null), format_type(oprright, null)),
               format_type(oprresult, null), oprname,
               concat_ws(', ', 'leftarg = ' || format_type(nullif(oprleft, 0), null),
                                    'rightarg = ' || format_type(oprright, null)))
      from pg_operator
      where oprnamespace = 'pg_catalog'::regnamespace
    loop
      begin execute statement; exception when others then null; end;
    end loop;
    -- Types, and relations without a column.
    foreach name in array array['text', 'jsonb', 'date', 'uuid', 'timestamptz', 'regclass', 'oid'] loop
      execute format('create domain hostile.%I as pg_catalog.%1$I check (hostile.trap())', name);
    end loop;
    for name in
      select relname from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v')
    loop
      execute format('create table hostile.%I ()', name);
    end loop;
    execute format(
      'alter role %I in database %I set search_path = hostile, pg_catalog, public', current_user, current_database());
  end $make$`;

/** Makes the twins; connections from now on have them in front. */
async function addTwins({ query }: Pick<OpenDatabase, 'query'>): Promise<void> {
  await query(twins);
  const made = await query(`
    select (select count(*)::int from pg_proc where pronamespace = 'hostile'::regnamespace) as functions,
           (select count(*)::int from pg_operator where oprnamespace = 'hostile'::regnamespace) as operators`);
  expect(made[0]?.functions).toBeGreaterThan(2_500);
  expect(made[0]?.operators).toBeGreaterThan(700);
}

test('no command calls a function, an operator or a table that another user put into the search path', async () => {
  const database = await freshDatabase('empty');
  await addTwins(database);
  const { place } = await openWorld({
    seed: 3,
    chain: { ...shortChain, factories: 30, batches: { first: 1, count: 5, blocks: 20 } },
    operations: {
      'user-operations': {},
      'optimism-batches': {},
      'optimism-batch-blocks': {},
      factories: {},
    },
    explorer: { archive: 'all', archive_days: 1 },
    database,
  });
  await expect(queryOnce(database.url, "select 'a' || length('b')")).rejects.toThrow(
    'hostile code',
  );
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: place.explorerUrl,
    EXPLORER_API_KEY: testKey,
  };
  for (const args of [
    ['migrate', '--roles'],
    ['sync'],
    ['verify'],
    ['status'],
    ['plan'],
    ['replay'],
    ['query', 'operations-daily', '--json'],
    ['export', 'operations_enriched', '--to', 'export'],
  ]) {
    const { code, stderr } = await call(args, { cwd: place.cwd, env });
    expect({ args, code, stderr }).toEqual({
      args,
      code: 0,
      stderr: expect.not.stringMatching(/hostile|ERROR|failure/u),
    });
  }
});

test('no view calls what the search path of its reader has before Postgres', async () => {
  const database = await freshDatabase();
  const { query, url } = database;
  const chain = { ...shortChain, batches: { first: 1, count: 8, blocks: 60 } };
  const { sync } = await openCopy(chain, { database });
  await sync({ operations: ['user-operations', 'optimism-batches', 'optimism-batch-blocks'] });
  await addTwins(database);
  const views = await query(`select oid::regclass::text as name from pg_class
    where relnamespace in ('explorer'::regnamespace, 'etl'::regnamespace) and relkind = 'v'`);
  expect(views.length).toBeGreaterThan(40);
  for (const { name } of views) await queryOnce(url, `table ${name}`);
});

test('each function has a parsed body or a search path of its own', async () => {
  const { query } = await freshDatabase();
  expect(
    await query(`select oid::regprocedure::text as function from pg_proc
      where pronamespace in ('explorer'::regnamespace, 'etl'::regnamespace) and prosqlbody is null
        and ('search_path=pg_catalog, pg_temp' = any(proconfig)) is not true`),
  ).toEqual([]);
});

test('a search path in the options of the URL does not count, other settings do', async () => {
  const database = await freshDatabase('empty');
  await database.query(`create schema hostile; create function hostile.length(text) returns int
    language sql return 7`);
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=hostile,pg_catalog -c lock_timeout=7');
  const { pool, budgetPool } = openWorkPools(await demandSession(url.href), workTimeouts, 8);
  try {
    for (const each of [pool, budgetPool]) expect(await settings(each)).toEqual(['7ms', '2']);
  } finally {
    await pool.end();
    await budgetPool.end();
  }
});

const settings = async (pool: Pool) => {
  const { rows } = await pool.query<{ lock: string; length: string }>(
    `select current_setting('lock_timeout') as lock, length('ab')::text as length`,
  );
  return rows.flatMap(({ lock, length }) => [lock, length]);
};
