import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { Client, type Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { stopEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { createPool } from '../../src/db/pool.ts';

/** A database of its own, with every migration applied. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** Ends the pool and drops the database, cutting off whoever is still connected. */
  drop(): Promise<void>;
}

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
