import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { isRetryable } from './failure.ts';

/** The database as drizzle drives it, on a pool. */
export type Database = NodePgDatabase & { readonly $client: Pool };

/** One open transaction; what is written through it commits or rolls back whole. */
export type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

/** Of two transactions that deadlock one goes on, and the next attempt waits for it: a few are enough. */
const mostAttempts = 5;

/**
 * Runs `work` in a transaction, and again if Postgres ends it for another one's sake (40001, 40P01, 25P03), because
 * its pages are paid for. `work` must keep nothing of an attempt that failed.
 *
 * The connection of a failed transaction is closed. drizzle's own transaction never returns it to the pool if
 * `begin` fails: a pool of 12 was empty after connections had been cut 12 times at that moment.
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
  // What the server says between two queries is the reason; the next query only finds a closed connection.
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

/** The same with a transaction of node-postgres. */
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

/** Bounds how long a transaction waits for each lock; a lock_timeout of the URL or the role goes before it. */
export const limitLockWait = (session: PoolClient, ms: number) =>
  session.query(
    `select set_config('lock_timeout', $1, true) where current_setting('lock_timeout') = '0'`,
    [String(ms)],
  );
