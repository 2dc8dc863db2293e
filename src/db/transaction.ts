import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { isRetryable } from './failure.ts';

export type Database = NodePgDatabase & { readonly $client: Pool };

export type Transaction = NodePgDatabase & { readonly $client: PoolClient };

/** A row to write: column name to value. */
export type Row = Readonly<Record<string, unknown>>;

export type Queryable = Pick<Transaction, 'execute'>;

/** Runs a statement, the template behind it, and reads its answer: `execute(db).row<Row>`select …``. */
export function execute(db: Queryable) {
  const rows = async <T>(text: TemplateStringsArray, ...values: readonly unknown[]) =>
    (await db.execute(sql(text, ...values))).rows as T[];
  type Statement = Parameters<typeof rows>;
  /** The first column of each row. */
  const values = async <T>(...statement: Statement) =>
    (await rows<Record<string, T>>(...statement)).map((row) => Object.values(row)[0] as T);
  return {
    rows,
    /** The first row; null if there is none. */
    row: async <T>(...statement: Statement) => (await rows<T>(...statement))[0] ?? null,
    values,
    /** The first column of the first row; null if there is none. */
    value: async <T>(...statement: Statement) => (await values<T | null>(...statement))[0] ?? null,
    /** Whether there is a row. */
    has: async (...statement: Statement) => (await rows(...statement)).length > 0,
  };
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
export const inTransaction = <T>(
  pool: Pool,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> => throughConflicts(() => once(pool, work));

/** Does work of transactions of its own again after a conflict with others. */
export async function throughConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
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
