import { drizzle } from 'drizzle-orm/node-postgres';
import { Client, DatabaseError, type Pool } from 'pg';
import { migrate } from '../db/migrate.ts';
import { createPool } from '../db/pool.ts';
import type { Database } from '../db/transaction.ts';

/** A database beside another one, with this program's tables in it, for as long as it is needed. */
export interface ScratchDatabase {
  readonly db: Database;
  readonly pool: Pool;
  /** Ends its connections and drops it. */
  drop(): Promise<void>;
}

/** The role may not create a database. The message says what to do. */
export class ScratchError extends Error {
  override readonly name = 'ScratchError';
}

/** Names of databases are cut at 63 bytes by Postgres. */
const longestName = 63;
const suffix = '_replay';

/** One writer, one at a time. */
const connections = 2;

/**
 * Creates `<name>_replay` on the server of `url` and brings it to this program's schema. One that a
 * killed run left is dropped first. Its sessions go by a clock that can be set (`replay_clock.now_us`, µs
 * since 1970): in them, and in the defaults of its columns, `now()` is another function than Postgres'
 * own.
 *
 * @throws ScratchError when the role may not create databases
 */
export async function createScratchDatabase(url: string): Promise<ScratchDatabase> {
  const own = new URL(url);
  const name = `${decodeURIComponent(own.pathname.slice(1)).slice(0, longestName - suffix.length)}${suffix}`;
  const quoted = `"${name.replaceAll('"', '""')}"`;
  own.pathname = `/${encodeURIComponent(name)}`;
  try {
    await run(url, `drop database if exists ${quoted} with (force)`);
    await run(url, `create database ${quoted} template template0`);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '42501') throw error;
    throw new ScratchError(
      `replay builds the tables in a database of its own, ${name}, which this role may not create: grant it with "alter role … createdb", or name another role in DATABASE_URL.`,
    );
  }
  const drop = () => run(url, `drop database if exists ${quoted} with (force)`);
  try {
    await run(own.href, clock);
    await run(own.href, `alter database ${quoted} set search_path = replay_clock, pg_catalog`);
    // What is lost with the machine is built again.
    await run(own.href, `alter database ${quoted} set synchronous_commit = off`);
    // A few statements by the thousand: planned once each, while their tables are still empty.
    await run(own.href, `alter database ${quoted} set plan_cache_mode = force_generic_plan`);
    await run(own.href, `alter database ${quoted} set enable_seqscan = off`);
    await migrate(own.href);
    await run(own.href, unlogged);
  } catch (error) {
    await drop();
    throw error;
  }
  const pool = createPool({
    url: own.href,
    max: connections,
    applicationName: 'explorer-etl replay',
    planned: 'all',
    isPipelined: true,
  });
  return {
    db: drizzle(pool),
    pool,
    async drop() {
      await pool.end();
      await drop();
    },
  };
}

/** Asked twice for each row: a number is read in a third of the time of a date. */
const clock = `
  create schema replay_clock;
  create function replay_clock.now() returns timestamptz
  language sql stable
  return coalesce(
    timestamptz '1970-01-01 00:00:00+00'
      + interval '1 microsecond' * nullif(current_setting('replay_clock.now_us', true), '')::bigint,
    pg_catalog.now()
  );
`;

/** Tables that refer to others go first: a logged one cannot refer to one that is not. */
const unlogged = `
  do $$
  declare
    next regclass;
  begin
    loop
      select oid::regclass into next
      from pg_class as t
      where relnamespace in ('explorer'::regnamespace, 'etl'::regnamespace)
        and relkind = 'r' and relpersistence = 'p'
        and not exists (
          select from pg_constraint join pg_class as other on other.oid = conrelid
          where contype = 'f' and confrelid = t.oid and other.relpersistence = 'p'
        )
      limit 1;
      exit when next is null;
      execute format('alter table %s set unlogged', next);
    end loop;
  end
  $$
`;

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
