import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { serialize } from 'node:v8';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Client, type Pool, type QueryResult } from 'pg';
import { beforeAll, inject, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../src/app.ts';
import { createPool } from '../../src/db/pool.ts';
import { grantRoles } from '../../src/db/roles.ts';
import type { Database } from '../../src/db/transaction.ts';
import { stopEmbeddedPostgres } from '../../src/postgres/postgres.ts';
import { urlOfDatabase, withClient } from './client.ts';
import { clear, type Content, contentOf, type Schema, schemaOf, setContent } from './content.ts';
import { eventually } from './process.ts';

/** A database of its own, with every migration applied. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly db: Database;
  /** The rows of a statement, whatever they are: a test says what it expects of them. */
  readonly query: (statement: string, values?: unknown[]) => Promise<QueryResult['rows']>;
  /** Ends the pool and drops the database, and closes connections that are still open. */
  drop(): Promise<void>;
}

/** A database whose end is not the user's concern. */
export type OpenDatabase = Omit<TestDatabase, 'drop'>;
export type UsedDatabase = Pick<TestDatabase, 'url' | 'pool'>;

function connected(url: string, max: number, applicationName = 'explorer-etl test'): OpenDatabase {
  const pool = createPool({ url, max, applicationName });
  const query: OpenDatabase['query'] = async (statement, values) =>
    (await pool.query(statement, values)).rows;
  return { url, pool, db: drizzle(pool), query };
}

const execute = (url: string, statement: string) =>
  withClient(url, (client) => client.query(statement));

/** A fresh database: a copy of the run's migrated template, or an empty one. */
export const createTestDatabase = (
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> =>
  copyDatabase(from === 'migrated' ? inject('databaseServer').template : 'template0');

/** A copy of a database on which no session is open. It ends with the running test. */
export async function copyOf({ url }: Pick<OpenDatabase, 'url'>): Promise<TestDatabase> {
  const database = await copyDatabase(new URL(url).pathname.slice(1));
  onTestFinished(() => database.drop());
  return database;
}

async function copyDatabase(source: string): Promise<TestDatabase> {
  const { url: serverUrl, template, others } = inject('databaseServer');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  const servers = [serverUrl, ...others];
  for (const server of servers.toReversed()) {
    await execute(server, `create database ${name} template ${source} strategy file_copy`);
  }
  const database = connected(urlOfDatabase(serverUrl, name), 10);
  return {
    ...database,
    async drop() {
      await endDependents(database.url);
      if (!database.pool.ended) await database.pool.end();
      for (const server of servers) {
        // Citus has a process for each database, which may come back meanwhile.
        if (others.length > 0)
          await execute(server, `alter database ${name} allow_connections false`);
        await execute(server, `drop database if exists ${name} with (force)`);
      }
    },
  };
}

/** What ends before a database is dropped, by the database's URL. */
const dependents = new Map<string, (() => Promise<unknown>)[]>();

/** Has something that works on a database end with it, which may be later than the running test. */
export function endWith(url: string, end: () => Promise<unknown>): void {
  dependents.set(url, [...(dependents.get(url) ?? []), end]);
}

async function endDependents(url: string): Promise<void> {
  const ends = dependents.get(url) ?? [];
  dependents.delete(url);
  await Promise.all(ends.map((end) => end()));
}

/** A database that one test of this worker has at a time. */
interface Kept {
  readonly database: TestDatabase;
  /** A session that no test has. */
  readonly client: Client;
  readonly schema: Schema;
  /** Not on Citus, nor for a role that may not change rows unseen by triggers. */
  readonly isReusable: boolean;
  /** Null once a test had it. */
  holds: Content | null;
  uses: number;
}

/** Databases that no test has at the moment. */
const waiting: Kept[] = [];
/** Of each worker, with the sessions of an engine or two. */
const mostWaiting = 2;
/** Deleted rows stay in their files. */
const mostUses = 40;

/** What this worker has filled databases with, by what is in them; `migrated` is the run's template. */
const contents = new Map<string, Content>();

/**
 * A database for the running test. To change what is in one takes a fifth of the time to make one, and its sessions
 * have planned their statements.
 */
async function takeDatabase(isForEngines: boolean): Promise<Kept> {
  const index = waiting.findIndex(({ database }) => dependents.has(database.url) === isForEngines);
  const [kept = await keepDatabase()] = waiting.splice(Math.max(index, 0), 1);
  if (!isForEngines) await endDependents(kept.database.url);
  kept.uses += 1;
  onTestFinished(({ task }) => giveBack(kept, task.result?.state !== 'fail'));
  return kept;
}

async function keepDatabase(): Promise<Kept> {
  const copy = await copyDatabase(inject('databaseServer').template);
  const client = new Client({ connectionString: copy.url });
  client.on('error', () => undefined);
  await client.connect();
  const drop = async () => {
    await client.end();
    await copy.drop();
  };
  const { rows } = await client.query<{ isSuperuser: boolean }>(
    `select current_setting('is_superuser')::boolean as "isSuperuser"`,
  );
  const isReusable = inject('databaseServer').others.length === 0 && rows[0]?.isSuperuser === true;
  const schema = await schemaOf(client);
  const holds = contents.get('migrated') ?? (await contentOf(client, schema));
  contents.set('migrated', holds);
  return { database: { ...copy, drop }, client, isReusable, schema, holds, uses: 0 };
}

async function fillWith(kept: Kept, content: Content | undefined): Promise<TestDatabase> {
  const { client, schema, database } = kept;
  if (content !== undefined && kept.holds !== content) await setContent(client, schema, content);
  kept.holds = null;
  return database;
}

async function giveBack(kept: Kept, isPassed: boolean): Promise<void> {
  const { database, client, isReusable, schema, uses } = kept;
  const others = dependents.has(database.url) ? 'idle' : 'ended';
  const canKeep = isReusable && isPassed && uses < mostUses && waiting.length < mostWaiting;
  // A test may have ended the sessions.
  const clearing = async () => clear(database.pool, client, schema, others).catch(() => false);
  if (canKeep && (await clearing())) waiting.push(kept);
  else await database.drop();
}

/** A fresh database of the running test, on which engines of earlier tests may be open (`sharedEngine`). */
export async function syncedDatabase(): Promise<TestDatabase> {
  return fillWith(await takeDatabase(true), contents.get('migrated'));
}

/** A fresh database of the running test. */
export async function freshDatabase(
  from: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  if (from === 'migrated') return fillWith(await takeDatabase(false), contents.get('migrated'));
  const database = await createTestDatabase(from);
  onTestFinished(() => database.drop());
  return database;
}

/**
 * A database with what `fill` brings into one: it does so once for all tests of this worker.
 *
 * @param content says what `fill` brings
 */
export async function filledDatabase(
  content: unknown,
  fill: (database: OpenDatabase) => Promise<unknown>,
): Promise<TestDatabase> {
  const key = serialize(content).toString('base64');
  const kept = await takeDatabase(true);
  const known = contents.get(key);
  if (known !== undefined && kept.isReusable) return fillWith(kept, known);
  const database = await fillWith(kept, contents.get('migrated'));
  await fill(database);
  contents.set(key, await contentOf(kept.client, kept.schema));
  return database;
}

/**
 * A database that the tests of a file share, for a fresh one takes longer than many a test.
 *
 * @param fill brings something into it
 */
export function sharedDatabase(
  fill: (database: TestDatabase) => Promise<unknown> = async () => undefined,
  from: 'migrated' | 'empty' = 'migrated',
): OpenDatabase {
  const shared = {} as OpenDatabase;
  beforeAll(async () => {
    const database = await createTestDatabase(from);
    Object.assign(shared, database);
    await fill(database);
    return () => database.drop();
  });
  return shared;
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

/** A database where a URL says, on connections that end with the running test. */
export function databaseAt(url: string, max = 4, applicationName?: string): OpenDatabase {
  const database = connected(url, max, applicationName);
  onTestFinished(async () => {
    if (!database.pool.ended) await database.pool.end();
  });
  return database;
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

/** A prepared database whose roles are granted, on which no other role may create anything. */
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
export async function userWith(database: UsedDatabase, role: string): Promise<OpenDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await database.pool.query(`create role ${name} login password 'test' in role ${role}`);
  const url = new URL(database.url);
  url.username = name;
  url.password = 'test';
  // After its connections, which end first.
  onTestFinished(() => execute(database.url, `drop role ${name}`).then(undefined, () => undefined));
  return databaseAt(url.href, 4, 'explorer-etl test user');
}
