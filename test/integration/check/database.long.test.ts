import { randomUUID } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import type { Check } from '../../../src/cli/check.ts';
import { roles } from '../../../src/db/roles.ts';
import { database as databaseSection } from '../../../src/config/schema.ts';
import { openPresence } from '../../../src/sync/workers.ts';
import { tableName } from '../../../src/db/column-types.ts';
import { operationNames, operations } from '../../../src/lists/registry.ts';
import { prepareUrl, urlOfDatabase } from '../../harness/client.ts';
import {
  databaseAt,
  freshDatabase,
  grantedDatabase,
  type OpenDatabase,
  userWith,
} from '../../harness/database.ts';
import { testKey } from '../../harness/explorer.ts';
import { call, configFolder } from '../../harness/process.ts';
import { openCopied, openCopy, shortChain } from '../../harness/sync.ts';

/** A few rows of each list. */
const chain = { ...shortChain, otherRankings: 5 };

/** What `check` says of a database besides what is fine, and how it exits. */
async function problems({ url }: Pick<OpenDatabase, 'url'>) {
  const cwd = await configFolder({ chains: [{ id: 10, operations: { factories: {} } }] });
  const options = { cwd, env: { DATABASE_URL: url, EXPLORER_API_KEY: 'unused' } };
  const { code, stdout } = await call(['check', '--no-requests', '--json'], options);
  if (!stdout.includes('checks')) throw new Error(stdout);
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
  const failed = checks.filter(({ state }) => state === 'failed');
  expect(code).toBe(failed.length === 0 ? 0 : 1);
  return failed.map(({ name, message }) => ({ name, message }));
}

/** Runs the statements that problems name, as a user would, and as the role that they name. */
async function obey(admin: OpenDatabase, found: readonly { readonly message: string }[]) {
  const named = found.flatMap(({ message }) => [
    ...message.matchAll(/"((?:grant|alter|select) [^"]+)"(?: as (\w+))?/gu),
  ]);
  expect(named).not.toEqual([]);
  for (const [, statement = '', role = 'none'] of named) {
    await admin.query(`set role ${role}; ${statement}; reset role`);
  }
}

/** A user of the test's own, who has no right but to connect. */
async function plainUser(database: OpenDatabase): Promise<OpenDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await database.query(`create role ${name} login password 'test'`);
  onTestFinished(async () => {
    await database.query(`drop owned by ${name} cascade`);
    await database.query(`drop role ${name}`);
  });
  const url = new URL(database.url);
  url.username = name;
  url.password = 'test';
  return databaseAt(url.href);
}

const nameOf = ({ url }: OpenDatabase) => new URL(url).username;
const databaseOf = ({ url }: OpenDatabase) => new URL(url).pathname.slice(1);
const migrate = ({ url }: OpenDatabase) => call(['migrate', '--database-url', url], {});

test('for a role that may not create schemas, check and migrate name the grant that helps', async () => {
  const database = await freshDatabase('empty');
  const user = await plainUser(database);
  const found = await problems(user);
  expect(found).toMatchObject([{ name: 'database' }]);
  const { code, stderr } = await migrate(user);
  expect(code).toBe(2);
  expect(stderr).toContain(found[0]?.message);

  await obey(database, found);
  expect(await problems(user)).toEqual([]);
  expect((await migrate(user)).code).toBe(0);
  expect(await problems(user)).toEqual([]);
});

test('a database that another role made is for that role to migrate', async () => {
  const database = await freshDatabase();
  await database.query('delete from etl.migrations');
  const user = await plainUser(database);
  await database.query(`grant usage on schema etl to ${nameOf(user)}`);
  await database.query(`grant select on all tables in schema etl to ${nameOf(user)}`);
  const [found, ...others] = await problems(user);
  expect(others).toEqual([]);
  expect(found?.message).toMatch(
    /^role \w+ may not change what (\w+) owns: run "explorer-etl migrate" as \1$/u,
  );
});

test('a role that may only read is granted the role of workers, as check says', async () => {
  const database = await grantedDatabase();
  const analyst = await userWith(database, roles.analyst);
  const found = await problems(analyst);
  expect(found).toMatchObject([{ name: 'database' }]);
  await obey(database, found);
  expect(await problems(analyst)).toEqual([]);
});

/** What a process needs, by default. */
const { connections } = databaseSection.parse({});

test.each(['role', 'database'])('check finds a %s with too few connections', async (what) => {
  const database = await freshDatabase('empty');
  const user = await plainUser(database);
  await database.query(`grant create on database ${databaseOf(database)} to ${nameOf(user)}`);
  const limited = what === 'role' ? nameOf(user) : databaseOf(database);
  // One is the command's own.
  await database.query(`alter ${what} ${limited} connection limit ${connections}`);
  const found = await problems(user);
  expect(found).toMatchObject([{ name: 'database' }]);
  expect(found[0]?.message).toContain(
    `of ${connections} connections opened: too many connections for ${what}`,
  );
  await obey(database, found);
  expect(await problems(user)).toEqual([]);
});

test('beside a worker, which has its connections, check opens none', async () => {
  const database = await grantedDatabase();
  const user = await userWith(database, roles.worker);
  await database.query(`alter role ${nameOf(user)} connection limit ${connections}`);
  expect(await problems(user)).not.toEqual([]);
  const worker = { workerId: randomUUID(), kind: 'start', deployment: null, limits: {} } as const;
  await openPresence(database.db, worker).beat();
  expect(await problems(user)).toEqual([]);
});

test('a database that is behind the program is no damaged one', async () => {
  const database = await freshDatabase();
  await database.query(`
    insert into etl.migrations (hash, created_at) values ('older', 1);
    delete from etl.migrations where hash <> 'older'`);
  const found = await problems(database);
  expect(found.filter(({ message }) => message.includes('drop schema'))).toEqual([]);
});

/** An empty database of an encoding. */
async function encoded(encoding: string): Promise<OpenDatabase> {
  const { url, query } = await freshDatabase('empty');
  const name = `${new URL(url).pathname.slice(1)}_${encoding.toLowerCase()}`;
  await query(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
  onTestFinished(async () => void (await query(`drop database ${name} with (force)`)));
  return databaseAt(urlOfDatabase(url, name));
}

test('a database of an encoding that lacks characters is refused before anything is made', async () => {
  const database = await encoded('LATIN1');
  const found = await problems(database);
  expect(found).toMatchObject([{ name: 'database' }]);
  expect(found[0]?.message).toMatch(
    /encoding LATIN1, .* "create database explorer encoding 'UTF8' template template0"/u,
  );
  expect((await migrate(database)).code).toBe(2);
  expect(await database.query(`select from pg_namespace where nspname = 'etl'`)).toEqual([]);
});

test('a database of encoding SQL_ASCII keeps every character', async () => {
  const database = await encoded('SQL_ASCII');
  expect(await problems(database)).toEqual([]);
  await prepareUrl(database.url);
  const name = 'Café 🦊 \u4e2d';
  const { sync, query, served } = await openCopy(chain, { database });
  served.alter = (page) =>
    JSON.parse(JSON.stringify(page).replaceAll(/"name":"[^"]+"/gu, `"name":"${name}"`));
  await sync();
  const rows = await query('select distinct name from explorer.addresses where name is not null');
  expect(rows).toEqual([{ name }]);
});

/** A copy in which every list has rows. */
const copied = () => openCopied(chain, { run: { operations: operationNames } });

test('sequences that are behind their tables are named, each with what moves it', async () => {
  const { database } = await copied();
  expect(await problems(database)).toEqual([]);
  const sequences = await database.query(
    `select schemaname || '.' || sequencename as name from pg_sequences
     where schemaname in ('etl', 'explorer') and last_value is not null`,
  );
  expect(sequences.length).toBeGreaterThan(2);
  for (const { name } of sequences) await database.query(`alter sequence ${name} restart`);
  const found = await problems(database);
  expect(new Set(found.map(({ message }) => message.split(' ')[0]))).toEqual(
    new Set(sequences.map(({ name }) => name)),
  );
  await obey(database, found);
  expect(await problems(database)).toEqual([]);
});

test('page numbers of rows above the sequence of pages are found', async () => {
  const { database } = await copied();
  await database.query('update explorer.user_operations set page_id = 1000000');
  const found = await problems(database);
  expect(found[0]?.message).toMatch(/^etl\.pages_id_seq is at \d+, and number 1000000 is in use/u);
  await obey(database, found);
  expect(await problems(database)).toEqual([]);
});

test.each([
  ['explorer', 'drop schema etl, pgboss cascade', /^tables exist without etl\.migrations/u],
  ['etl', 'drop schema explorer cascade', /^tables are missing/u],
  [
    'rows',
    'truncate etl.feeds, etl.walks, etl.runs cascade',
    /user_operations has rows, but the ledger records none/u,
  ],
])('a database with %s alone is one that was restored by half', async (_, statement, says) => {
  const { database } = await copied();
  await database.query(statement);
  const found = (await problems(database)).filter(({ message }) => says.test(message));
  expect(found).toMatchObject([{ name: 'database' }]);
  expect(found[0]?.message).toMatch(/drop schema if exists explorer, etl, pgboss cascade$/u);
});

test('migrate says of tables without etl what check says', async () => {
  const { database } = await copied();
  await database.query('drop schema etl, pgboss cascade');
  const [found] = await problems(database);
  const { code, stderr } = await migrate(database);
  expect(code).toBe(2);
  expect(stderr).toContain(found?.message);
});

test('each view or function that is dropped is named, and migrate makes it again', async () => {
  const { database } = await copied();
  await database.query('drop view explorer.gaps cascade; drop function etl.data_problems');
  const [found, ...others] = await problems(database);
  expect(others).toEqual([]);
  expect(found?.message).toMatch(
    /^missing: function etl\.data_problems, view explorer\.gaps\b.*; run "explorer-etl migrate"$/u,
  );
  expect((await migrate(database)).code).toBe(0);
  expect(await problems(database)).toEqual([]);
});

test('each table of items that is emptied or dropped is named, and what fills it again', async () => {
  const { database, simulator } = await copied();
  const tables = operationNames.map((name) => tableName(operations[name].table));
  for (const table of tables) await database.query(`truncate ${table} cascade`);
  const found = await problems(database);
  const emptied =
    /^(?<table>\S+) is empty, though \d+ rows of chain 10 were written to it: .*"explorer-etl (?<refill>[^"]+)"$/u;
  const named = found.map(({ message }) => emptied.exec(message)?.groups ?? { table: message });
  expect(new Set(named.map(({ table }) => table))).toEqual(new Set(tables));
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  // One list of each kind: the commands of others differ in the name alone.
  const kinds = new Map(operationNames.map((name, at) => [operations[name].kind, tables[at]]));
  const refilled = new Set(kinds.values());
  for (const { table, refill = '' } of named) {
    if (refilled.has(table)) await call(refill.split(' '), { env });
  }
  const left = (await problems(database)).map(
    ({ message }) => emptied.exec(message)?.groups?.['table'],
  );
  expect(new Set(left)).toEqual(new Set(tables.filter((table) => !refilled.has(table))));

  await database.query('drop table explorer.blocks cascade');
  expect(await problems(database)).toContainEqual({
    name: 'database',
    message: expect.stringMatching(/^tables are missing \(explorer\.blocks\)/u),
  });
});

test.each([
  ['of rows', 'alter table explorer.blocks drop column size', 'explorer.blocks.size'],
  [
    'that a view reads',
    'alter table explorer.blocks drop column height cascade',
    'explorer.blocks.height',
  ],
  ['that work needs', 'alter table etl.lanes drop column wanted_by cascade', 'etl.lanes.wanted_by'],
  [
    'beside others',
    'alter table etl.walks drop column pages cascade; alter table etl.runs drop column reason cascade',
    'etl.runs.reason and 1 more',
  ],
])('a column %s that is dropped is named, and what to do', async (_, statement, name) => {
  const { database } = await copied();
  await database.query(statement);
  expect(await problems(database)).toEqual([
    {
      name: 'database',
      message: `columns are missing (${name}), as after an incomplete restore: restore schemas explorer, etl and pgboss from one backup, or start over: drop schema if exists explorer, etl, pgboss cascade`,
    },
  ]);
});

test('a table of the ledger that is emptied is named', async () => {
  const { database } = await copied();
  for (const table of ['etl.pages', 'etl.walks', 'etl.runs']) {
    await database.query(`truncate ${table} cascade`);
    const found = (await problems(database)).map(({ message }) => message);
    expect(found).toContainEqual(
      expect.stringMatching(new RegExp(`^${table} is empty, though \\d+ pages were read`, 'u')),
    );
  }
});
