import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client, type Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../src/app.ts';
import { createPool } from '../../src/db/pool.ts';
import { grantRoles } from '../../src/db/roles.ts';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { eventually } from './process.ts';

/** A database of its own, with every migration applied. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** Ends the pool and drops the database, cutting off whoever is still connected. */
  drop(): Promise<void>;
}

/** A database whose end is not the user's concern. */
export type UsedDatabase = Pick<TestDatabase, 'url' | 'pool'>;

/** A fresh database: a copy of the run's migrated template, or an empty one. */
export async function createTestDatabase(
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const { url: serverUrl, template, others } = inject('databaseServer');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  const source = from === 'migrated' ? template : 'template0';
  const servers = [serverUrl, ...others];
  for (const server of servers.toReversed()) {
    await command(server, `create database ${name} template ${source}`);
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool({ url: url.href, max: 10, applicationName: 'explorer-etl test' });
  return {
    url: url.href,
    pool,
    async drop() {
      if (!pool.ended) await pool.end();
      for (const server of servers) {
        // Citus has somebody look after each database, who may come back meanwhile.
        if (others.length > 0)
          await command(server, `alter database ${name} allow_connections false`);
        await command(server, `drop database if exists ${name} with (force)`);
      }
    },
  };
}

/** A fresh database that is dropped when the running test ends. */
export async function freshDatabase(
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const database = await createTestDatabase(from);
  onTestFinished(() => database.drop());
  return database;
}

/**
 * An empty directory that every user may enter, for an embedded Postgres of its own. When the
 * running test ends, the server that runs there is stopped and the directory removed.
 */
export async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(inject('directoryPrefix'));
  await chmod(directory, 0o755);
  onTestFinished(async () => {
    await stopEmbeddedPostgres(directory);
    await rm(directory, { recursive: true, force: true });
  });
  return directory;
}

async function command(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Waits until so many sessions of the database wait for a lock. */
export async function untilLocked(pool: Pool, sessions = 1): Promise<void> {
  await eventually(`${sessions} sessions that wait for a lock`, async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === sessions;
  });
}

/** A test's database as commands know one. */
export const opened = (database: UsedDatabase) => ({
  ...database,
  db: drizzle(database.pool),
  embedded: null,
  close: async () => 'left-running' as const,
});

/** A prepared database whose roles are granted, and on which nobody else may create anything. */
export async function grantedDatabase(): Promise<TestDatabase> {
  const database = await freshDatabase();
  await prepareDatabase(opened(database));
  await grantRoles(database.pool);
  await database.pool.query(`
    do $$ begin
      execute format('revoke all on database %I from public', current_database());
    end $$;
    revoke all on schema public from public
  `);
  return database;
}

/** A user who logs in with one of the roles, and no other right. */
export async function userWith(database: TestDatabase, role: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await database.pool.query(`create role ${name} login password 'test' in role ${role}`);
  const url = new URL(database.url);
  url.username = name;
  url.password = 'test';
  const pool = createPool({ url: url.href, max: 4, applicationName: 'explorer-etl test user' });
  onTestFinished(async () => {
    await pool.end();
    const admin = createPool({ url: database.url, max: 1, applicationName: 'explorer-etl test' });
    await admin.query(`drop role ${name}`).catch(() => undefined);
    await admin.end();
  });
  return { url: url.href, pool, drop: async () => undefined };
}

/** A Postgres of its own, for what would disturb other tests. It is stopped with the test. */
export async function ownServer(settings: Readonly<Record<string, string>>) {
  const directory = await freshDirectory();
  const options = { directory, settings: { fsync: 'off', ...settings } };
  let server = await startEmbeddedPostgres(options);
  return {
    url: server.url,
    /** Kills it in whatever it does, starts it again, and returns its URL. */
    async crash(): Promise<string> {
      process.kill(server.pid, 'SIGKILL');
      await untilRefused(server.url);
      server = await startEmbeddedPostgres(options);
      return server.url;
    },
  };
}

/** Waits for the end of a server that was killed. */
export async function untilRefused(url: string): Promise<void> {
  await eventually('the killed server to be gone', async () => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return false;
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    }
  });
}
