import { once } from 'node:events';
import { createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import { Client, Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import {
  databaseClassOf,
  describeDatabaseError,
  isConnectionLost,
  isRetryable,
} from '../../../src/db/failure.ts';
import { connectionConfig, createPool } from '../../../src/db/pool.ts';
import { urlOfDatabase } from '../../harness/client.ts';
import { freshDatabase, sharedDatabase } from '../../harness/database.ts';

const canary = 'canary-9f2c';

async function failureOf(attempt: PromiseLike<unknown>): Promise<unknown> {
  try {
    await attempt;
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}

function poolOf(url: string, max = 1): ReturnType<typeof createPool> {
  return createPool({ url, max, applicationName: 'explorer-etl test' });
}

describe('the description of a failure', () => {
  const database = sharedDatabase(undefined, 'empty');
  const library = `create function f() returns int as 'no_such_library', 'g' language c`;

  test.each<[what: string, statement: string, values: unknown[], described: unknown]>([
    [
      'a constraint, not the values',
      `create table public.things (name text primary key); insert into public.things values ('${canary}'), ('${canary}')`,
      [],
      'row exists already (23505), table public.things, constraint things_pkey',
    ],
    [
      'the column that lacks a value',
      `create temp table n (name text not null, v text); insert into n values (null, '${canary}')`,
      [],
      expect.stringMatching(
        /^null where a value is required \(23502\), table pg_temp_\d+\.n, column name$/,
      ),
    ],
    [
      'what is missing',
      'select $1::text from nowhere',
      [canary],
      'relation "nowhere" does not exist (42P01)',
    ],
    [
      'that the system of the server failed',
      library,
      [],
      expect.stringMatching(/^could not access file "no_such_library": [^"]+ \(58P01\)$/),
    ],
    [
      'names that act on a terminal in one line',
      'select "\u001b[31m\nred"',
      [],
      'column "\\u001b[31m\\u000ared" does not exist (42703)',
    ],
    ['no bad value', 'select $1::text::bigint', [canary], 'value does not fit the type (22P02)'],
    [
      'no bad number',
      'select ($1::text || 0)::int',
      ['99999999999'],
      'number out of range (22003)',
    ],
    ['no bad time', 'select $1::text::date', [canary], 'not a time (22007)'],
    [
      'no bad document',
      'select $1::text::json',
      [`{${canary}`],
      'value does not fit the type (22P02)',
    ],
    [
      'nothing that a function raises',
      `do $$ begin raise exception '${canary}'; end $$`,
      [],
      'database error (P0001)',
    ],
    [
      'no refused row',
      `create temp table t (v text check (v <> v)); insert into t values ('${canary}')`,
      [],
      expect.stringMatching(
        /^check constraint violated \(23514\), table pg_temp_\d+\.t, constraint t_v_check$/,
      ),
    ],
  ])('names %s', async (_, statement, values, described) => {
    const error = await failureOf(database.pool.query(statement, values));
    expect(describeDatabaseError(error)).toEqual(described);
  });

  test('looks into what drizzle wraps, and drops its statement and parameters', async () => {
    const error = await failureOf(database.db.execute(sql`select ${canary}::int`));
    expect(String(error)).toContain(canary);
    expect(describeDatabaseError(error)).toBe('value does not fit the type (22P02)');
  });

  test.each([
    [
      `postgres://user:${canary}@127.0.0.1:1/db`,
      'connection refused (ECONNREFUSED) 127.0.0.1:1',
      true,
    ],
    [null, 'database "no_such_database" does not exist (3D000)', false],
  ])('names the server or database, never the password: %s', async (given, described, isLost) => {
    const url = given ?? urlOfDatabase(database.url, 'no_such_database');
    const error = await failureOf(poolOf(url).query('select 1'));
    expect(describeDatabaseError(error)).toBe(described);
    expect(isConnectionLost(error)).toBe(isLost);
    expect(databaseClassOf(error)).toBe(isLost ? 'database-unreachable' : 'database-login');
  });

  test('distinguishes a server that lost its connection to another from a lost server', async () => {
    const raised = `do $$ begin raise exception using errcode = '08006', message = 'connection to the remote node failed'; end $$`;
    const error = await failureOf(database.pool.query(raised));
    expect(describeDatabaseError(error)).toBe('connection to the remote node failed (08006)');
    expect(isConnectionLost(error)).toBe(false);
  });
});

describe('a lost connection', () => {
  test('differs from other failures, and the pool makes another', async () => {
    const database = await freshDatabase();
    const pool = poolOf(database.url);
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const waiting = failureOf(client.query('select pg_sleep(20)'));
    await database.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    expect(isConnectionLost(await waiting)).toBe(true);
    client.release(true);
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  /** As pg-boss makes one: it listens to the errors of the pool, and not of its connections. */
  const poolOfQueue = (url: string) =>
    new Pool(connectionConfig({ url, max: 2, applicationName: 'test' })).on('error', () => {});

  test.each([
    ['of the program', (url: string) => poolOf(url, 2)],
    ['of the queue', poolOfQueue],
  ])('%s does not end the process, whether it was idle or checked out', async (_, open) => {
    const database = await freshDatabase();
    const pool = open(database.url);
    const held = await pool.connect();
    await pool.query('select 1');
    const ended = new Promise((resolve) => held.once('end', resolve));
    await database.query(`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`);
    await ended;
    const error = await failureOf(held.query('select 1'));
    expect(isConnectionLost(error)).toBe(true);
    held.release(true);
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  test('includes that to a server that closes it at once', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const error = await failureOf(poolOf(`postgres://u@127.0.0.1:${port}/d`).query('select 1'));
    expect(isConnectionLost(error)).toBe(true);
    server.close();
  });
});

describe('a retryable failure', () => {
  test('is a conflict between transactions, and nothing else', async () => {
    const database = await freshDatabase();
    await database.query('create table public.counters as select 1 as id, 0 as n');
    const [one, two] = [
      new Client({ connectionString: database.url }),
      new Client({ connectionString: database.url }),
    ];
    await Promise.all([one.connect(), two.connect()]);
    for (const client of [one, two]) {
      await client.query('begin isolation level repeatable read');
      await client.query('select n from public.counters');
    }
    await one.query('update public.counters set n = n + 1');
    await one.query('commit');
    const error = await failureOf(two.query('update public.counters set n = n + 1'));
    expect(isRetryable(error)).toBe(true);
    expect(isConnectionLost(error)).toBe(false);
    expect(isRetryable(await failureOf(database.pool.query('select 1 / 0')))).toBe(false);
    await Promise.all([one.end(), two.end()]);
  });
});
