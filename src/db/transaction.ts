import type { SQL } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { isRetryable } from './failure.ts';

export type Database = NodePgDatabase & { readonly $client: Pool };

export type Transaction = NodePgDatabase & { readonly $client: PoolClient };

/** A row to write: column name to value. */
export type Row = Readonly<Record<string, unknown>>;

export type Queryable = Pick<Transaction, 'execute'>;

export async function hasRows(db: Queryable, statement: SQL): Promise<boolean> {
  return (await db.execute(statement)).rows.length > 0;
}

/** The first column of the first row; null if there is none. */
export async function valueOf<T>(db: Queryable, statement: SQL): Promise<T | null> {
  const [row] = (await db.execute<Record<string, T | null>>(statement)).rows;
  return row === undefined ? null : (Object.values(row)[0] ?? null);
}

/** One of two deadlocked transactions continues and the retry waits for it: a few are enough. */
const mostAttempts = 5;

/** `inTransaction` for drizzle. */
export const transact = <T>(
  { $client: pool }: Pick<Database, '$client'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => inTransaction(pool, (session) => work(drizzle(session)));

/**
 * Runs `work` in a transaction, and again after a conflict or idle timeout (40001, 40P01, 25P03), because its
 * pages are paid for. `work` must keep nothing of a failed attempt. A failed transaction's connection is closed: it may
 * not answer a rollback.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(pool, work);
    } catch (error) {
      if (attempt === mostAttempts || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(pool: Pool, work: (session: PoolClient) => Promise<T>): Promise<T> {
  const session = await pool.connect();
  let isFailed = true;
  // The server's message between two queries is the reason; the next query finds no connection.
  let said: unknown;
  const note = (error: Error) => (said ??= error);
  session.on('error', note);
  try {
    await session.query('begin');
    const result = await work(session);
    await session.query('commit');
    isFailed = false;
    return result;
  } catch (error) {
    throw isRetryable(said) ? said : error;
  } finally {
    session.off('error', note);
    session.release(isFailed);
  }
}

/** Bounds the wait for each lock; a lock_timeout of the URL takes precedence. */
export const limitLockWait = (session: PoolClient, ms: number) =>
  session.query(
    `select set_config('lock_timeout', $1, true) where current_setting('lock_timeout') = '0'`,
    [String(ms)],
  );
