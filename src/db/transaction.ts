import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { isRetryable } from './failure.ts';

export type Database = NodePgDatabase & { readonly $client: Pool };

export type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

/** One of two deadlocked transactions continues and the retry waits for it: a few are enough. */
const mostAttempts = 5;

/**
 * Runs `work` in a transaction, and again if Postgres ends it for another's sake (40001, 40P01, 25P03), because its
 * pages are paid for. `work` must keep nothing of a failed attempt. A failed transaction's connection is closed:
 * drizzle's own transaction leaks it if `begin` fails, and 12 such cuts emptied a pool of 12.
 */
export const transact = <T>(
  db: Pick<Database, '$client'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => retried(() => once(db.$client, work));

async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (number === mostAttempts || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isFailed = true;
  // The server's message between two queries is the reason; the next query finds no connection.
  let said: unknown;
  const note = (error: Error) => (said ??= error);
  client.on('error', note);
  try {
    const result = await drizzle(client).transaction(work);
    isFailed = false;
    return result;
  } catch (error) {
    throw isRetryable(said) ? said : error;
  } finally {
    client.off('error', note);
    client.release(isFailed);
  }
}

/** `transact` for node-postgres. */
export const inTransaction = <T>(
  pool: Pool,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> =>
  retried(async () => {
    const session = await pool.connect();
    let isFailed = true;
    try {
      await session.query('begin');
      const result = await work(session);
      await session.query('commit');
      isFailed = false;
      return result;
    } finally {
      session.release(isFailed);
    }
  });

/** Bounds the wait for each lock; a lock_timeout of the URL or the role takes precedence. */
export const limitLockWait = (session: PoolClient, ms: number) =>
  session.query(
    `select set_config('lock_timeout', $1, true) where current_setting('lock_timeout') = '0'`,
    [String(ms)],
  );
