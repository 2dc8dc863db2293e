import { once } from 'node:events';
import { createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { describeDatabaseError, isConnectionLost, isRetryable } from '../../../src/db/failure.ts';
import { createPool } from '../../../src/db/pool.ts';
import { freshDatabase } from '../../harness/database.ts';

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
  test('names the constraint, not the values', async () => {
    const database = await freshDatabase();
    await database.pool.query('create table things (name text primary key)');
    const insert = 'insert into things values ($1)';
    await database.pool.query(insert, [canary]);
    const error = await failureOf(database.pool.query(insert, [canary]));
    expect(describeDatabaseError(error)).toBe(
      'row exists already (23505), table public.things, constraint things_pkey',
    );
  });

  test('looks into what drizzle wraps, and drops its statement and parameters', async () => {
    const database = await freshDatabase();
    const db = drizzle(database.pool);
    const error = await failureOf(db.execute(sql`select ${canary}::int`));
    expect(String(error)).toContain(canary);
    const described = describeDatabaseError(error);
    expect(described).toBe('value does not fit the type (22P02)');
  });

  test('names what is missing', async () => {
    const database = await freshDatabase();
    const error = await failureOf(database.pool.query('select $1::text from nowhere', [canary]));
    expect(describeDatabaseError(error)).toBe('relation "nowhere" does not exist (42P01)');
  });

  test('names host and port, never the password', async () => {
    const pool = poolOf(`postgres://user:${canary}@127.0.0.1:1/db`);
    const error = await failureOf(pool.query('select 1'));
    expect(describeDatabaseError(error)).toBe('connection refused (ECONNREFUSED) 127.0.0.1:1');
    expect(isConnectionLost(error)).toBe(true);
  });

  test('tells a server that lost another one from one that is lost', async () => {
    const database = await freshDatabase();
    const raised = `do $$ begin raise exception using errcode = '08006', message = 'connection to the remote node failed'; end $$`;
    const error = await failureOf(database.pool.query(raised));
    expect(describeDatabaseError(error)).toBe('connection to the remote node failed (08006)');
    expect(isConnectionLost(error)).toBe(false);
  });

  test('names the database that does not exist', async () => {
    const database = await freshDatabase();
    const url = new URL(database.url);
    url.pathname = '/no_such_database';
    const error = await failureOf(poolOf(url.href).query('select 1'));
    expect(describeDatabaseError(error)).toBe('database "no_such_database" does not exist (3D000)');
    expect(isConnectionLost(error)).toBe(false);
  });
});

describe("the server's own text", () => {
  const described = async (statement: string, values: readonly unknown[] = []) => {
    const database = await freshDatabase();
    return describeDatabaseError(await failureOf(database.pool.query(statement, [...values])));
  };

  test('is told where the system of the server failed', async () => {
    const statement = `create function f() returns int as 'no_such_library', 'g' language c`;
    expect(await described(statement)).toMatch(
      /^could not access file "no_such_library": .+ \(58P01\)$/,
    );
  });

  test('is told once, however deep the error lies', async () => {
    const database = await freshDatabase();
    const statement = sql`create function f() returns int as 'no_such_library', 'g' language c`;
    const error = await failureOf(drizzle(database.pool).execute(statement));
    expect(describeDatabaseError(error).match(/no_such_library/g)).toHaveLength(1);
  });

  test('stays one line that a terminal can be given', async () => {
    expect(await described('select "\u001b[31m\nred"')).toBe(
      'column "\\u001b[31m\\u000ared" does not exist (42703)',
    );
  });

  test.each([
    ['a bad value', 'select $1::text::bigint', [canary]],
    ['a value out of range', 'select ($1::text || 0)::int', ['99999999999']],
    ['a bad time', 'select $1::text::date', [canary]],
    ['a bad document', 'select $1::text::json', [`{${canary}`]],
    ['what a function raises', `do $$ begin raise exception '${canary}'; end $$`, []],
    [
      'a refused row',
      `do $$ begin create temp table t (v text check (v <> v)); insert into t values ('${canary}'); end $$`,
      [],
    ],
  ])('is not told where it may repeat a value: %s', async (_, statement, values) => {
    expect(await described(statement, values)).not.toMatch(/canary|99999/);
  });
});

describe('a lost connection', () => {
  test('is told from other failures, and the pool makes another', async () => {
    const database = await freshDatabase();
    const pool = poolOf(database.url);
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const waiting = failureOf(client.query('select pg_sleep(20)'));
    await database.pool.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    expect(isConnectionLost(await waiting)).toBe(true);
    client.release(true);
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  test('while nobody uses it, idle or held, does not end the process', async () => {
    const database = await freshDatabase();
    const pool = poolOf(database.url, 2);
    const held = await pool.connect();
    await pool.query('select 1');
    const ended = new Promise((resolve) => held.once('end', resolve));
    await database.pool.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await ended;
    const error = await failureOf(held.query('select 1'));
    expect(isConnectionLost(error)).toBe(true);
    held.release(true);
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  test('is what a server looks like that hangs up at once', async () => {
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
    await database.pool.query('create table counters as select 1 as id, 0 as n');
    const [one, two] = [
      new Client({ connectionString: database.url }),
      new Client({ connectionString: database.url }),
    ];
    await Promise.all([one.connect(), two.connect()]);
    for (const client of [one, two]) {
      await client.query('begin isolation level repeatable read');
      await client.query('select n from counters');
    }
    await one.query('update counters set n = n + 1');
    await one.query('commit');
    const error = await failureOf(two.query('update counters set n = n + 1'));
    expect(isRetryable(error)).toBe(true);
    expect(isConnectionLost(error)).toBe(false);
    expect(isRetryable(await failureOf(database.pool.query('select 1 / 0')))).toBe(false);
    await Promise.all([one.end(), two.end()]);
  });
});
