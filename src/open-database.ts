import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import type { Settings } from './config/settings.ts';
import { describeDatabaseError } from './db/failure.ts';
import { applicationName, createPool, poolConnections, quickReading } from './db/pool.ts';
import type { Database } from './db/transaction.ts';
import { errorOf } from './failure.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './postgres/postgres.ts';

/** The database does not answer or refuses the login. Names no password. */
export class DatabaseUnavailableError extends errorOf('database-unavailable') {}

export interface OpenDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly db: Database;
  /** Null: `DATABASE_URL` names the server. */
  readonly embedded: EmbeddedPostgres | null;
  /** Ends the pool; an embedded server keeps running until `db stop`. */
  close(): Promise<unknown>;
}

/** Disposing of it closes it. */
export type OwnDatabase = OpenDatabase & AsyncDisposable;

export interface EmbeddedPlace {
  readonly cwd: string;
  readonly name?: string;
  /** Whether an absent database is refused; otherwise it is created. */
  readonly mustExist?: boolean;
}

/**
 * Opens the database of the settings, or of the embedded server below `cwd`.
 * @param demand throws if the caller cannot use the database
 * @throws DatabaseUnavailableError if it does not answer, or must exist and does not
 */
export async function openDatabase(
  settings: Pick<Settings, 'databaseUrl'>,
  place: EmbeddedPlace,
  demand?: (pool: Pool) => Promise<void>,
): Promise<OwnDatabase> {
  const { embedded, url } =
    settings.databaseUrl === null
      ? await openEmbedded(place)
      : { embedded: null, url: settings.databaseUrl };
  const pool = createPool({
    url,
    max: poolConnections,
    applicationName,
    settings: quickReading,
    // It may lead through a pooler: commands that need a session look later.
    isPooled: true,
  });
  try {
    await pool.query('select 1').catch((cause: unknown) => {
      const why = describeDatabaseError(cause);
      throw new DatabaseUnavailableError(`the database can't be used: ${why}.`, { cause });
    });
    await demand?.(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const close = () => pool.end();
  return { url, pool, db: drizzle(pool), embedded, close, [Symbol.asyncDispose]: close };
}

/** @throws as `openDatabase` */
async function openEmbedded({ cwd, name = 'postgres', mustExist = false }: EmbeddedPlace) {
  const embedded = await startEmbeddedPostgres({ directory: join(cwd, '.explorer-etl') });
  const url = new URL(embedded.url);
  const server = createPool({ url: embedded.url, max: 1, applicationName });
  try {
    const { rows } = await server.query('select from pg_database where datname = $1', [name]);
    if (rows.length === 0 && mustExist) {
      throw new DatabaseUnavailableError(
        `the embedded Postgres has no database "${name}" yet: run ${name} first.`,
      );
    }
    if (rows.length === 0) await server.query(`create database "${name}"`);
  } finally {
    await server.end();
  }
  url.pathname = `/${name}`;
  return { embedded, url: url.href };
}
