import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { prepareDatabase } from '../../../src/app.ts';
import { codeOfFailure } from '../../../src/db/failure.ts';
import { grantRoles, roles } from '../../../src/db/roles.ts';
import { simulated } from '../../harness/explorer.ts';
import { grantedDatabase, opened, userWith } from '../../harness/database.ts';
import { configFolder, eventually, startProgram } from '../../harness/process.ts';
import { runSync, shortChain } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const chain = { ...shortChain, factories: 30 };
const seed = 5;

const attempt = (pool: Pool, statement: string) =>
  pool.query(statement).then(
    ({ rowCount }) => rowCount,
    (error: unknown) => (error as { code: string }).code,
  );
const denied = '42501';

const simulatedUrl = async () => (await simulated({ seed, chains: [chain] })).url;

test('a user with the worker role syncs everything, and may change no table', async () => {
  const database = await grantedDatabase();
  const worker = await userWith(database, roles.worker);
  await runSync(worker, { url: await simulatedUrl(), chains: [chain] });
  expect(await differences(database.pool, seed, chain)).toEqual({});
  for (const statement of [
    'create schema mine',
    'create table explorer.mine (id int)',
    'create table etl.mine (id int)',
    'create temporary table mine (id int)',
    'alter table explorer.blocks add column mine int',
    'drop table etl.walks',
    'truncate explorer.blocks',
    'delete from etl.migrations',
  ]) {
    expect([statement, await attempt(worker.pool, statement)]).toEqual([statement, denied]);
  }
});

test('start runs with the worker role alone', async () => {
  const database = await grantedDatabase();
  const worker = await userWith(database, roles.worker);
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000, archive: 'all', archive_days: 1, ledger_days: 7 },
    chains: [{ id: 10, operations: { 'user-operations': {}, factories: {} } }],
  });
  const environment = { databaseUrl: worker.url, explorerUrl: await simulatedUrl(), cwd };
  const program = startProgram(['start'], environment);
  await eventually('all rows', async () => {
    const rows = await database.query(`
      select (select count(*) from explorer.user_operations) = ${chain.userOperations}
         and (select count(*) from explorer.factories where rank is not null) = ${chain.factories}
         as all`);
    return rows[0]?.all;
  });
  program.kill('SIGTERM');
  expect(await program.ended()).toEqual({ code: 0, signal: null });
  expect(program.stderr).not.toContain('permission denied');
});

test('an analyst reads schema explorer but for what belongs to the owner of the key', async () => {
  const database = await grantedDatabase();
  await database.query(`
    insert into explorer.addresses (chain_id, hash, page_id) values (10, '0x1', 1);
    insert into explorer.address_labels (chain_id, address_hash, kind, position, label, page_id)
    values (10, '0x1', 'private', 0, 'mine', 1), (10, '0x1', 'public', 0, 'ours', 1);
    insert into explorer.address_watchlist_names (chain_id, address_hash, position, label, page_id)
    values (10, '0x1', 0, 'mine', 1);
    insert into etl.feeds (chain_id, operation, kind, settings) values
      (10, 'user-operations', 'newest-first', '{}'),
      (10, 'optimism-batch-blocks', 'numbered', '{}'),
      (10, 'factories', 'ranked', '{}')
  `);
  const { pool } = await userWith(database, roles.analyst);
  const { rows } = await pool.query('select kind, label from explorer.address_labels');
  expect(rows).toEqual([{ kind: 'public', label: 'ours' }]);
  const relations = await database.query(`
    select oid::regclass::text as name from pg_class
    where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'v') order by 1`);
  const unread = [];
  for (const { name } of relations) {
    if ((await attempt(pool, `select * from ${name} limit 1`)) === denied) unread.push(name);
  }
  expect(unread).toEqual(['explorer.address_watchlist_names']);
  for (const statement of [
    'select from etl.walks',
    'select from etl.quarantine',
    'select from pgboss.job',
    'delete from explorer.blocks',
    `update explorer.address_labels set label = 'other'`,
    'create table explorer.mine (id int)',
  ]) {
    expect([statement, await attempt(pool, statement)]).toEqual([statement, denied]);
  }
});

test('granting again changes nothing', async () => {
  const database = await grantedDatabase();
  const rights = async () => {
    const rows = await database.query(`
      select oid::regclass::text as name, relacl::text, relowner::regrole::text, relrowsecurity
      from pg_class
      where relnamespace in ('explorer'::regnamespace, 'etl'::regnamespace, 'pgboss'::regnamespace)
      union all
      select polname, polroles::text, polqual::text, true from pg_policy
      order by 1, 2`);
    return rows;
  };
  const before = await rights();
  await grantRoles(database.pool);
  expect(await rights()).toEqual(before);
});

test('a user with the owner role migrates', async () => {
  const database = await grantedDatabase();
  const owner = await userWith(database, roles.owner);
  await owner.pool.query('alter table explorer.blocks add column later int');
  await owner.pool.query('create table etl.later (id int)');
  expect(await prepareDatabase(opened(owner))).toEqual({ applied: 0, views: 0 });
});

// The owner migrates, and nothing changes.
test('a role that may not read schema etl gets no advice to migrate', async () => {
  const database = await grantedDatabase();
  const analyst = await userWith(database, roles.analyst);
  const refused: unknown = await prepareDatabase(opened(analyst)).catch((error: unknown) => error);
  expect(codeOfFailure(refused)).toBe('42501');
});

test('a worker whose database is behind says that the owner has to migrate', async () => {
  const database = await grantedDatabase();
  const worker = await userWith(database, roles.worker);
  await database.query('delete from etl.migrations');
  await expect(prepareDatabase(opened(worker))).rejects.toThrow(
    /may not change what explorer_etl_owner owns: run "explorer-etl migrate" as explorer_etl_owner/,
  );
});
