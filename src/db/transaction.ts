import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { isRetryable } from './failure.ts';

/** The database as drizzle drives it, on a pool. */
export type Database = NodePgDatabase & { readonly $client: Pool };

/** One open transaction; what is written through it commits or rolls back whole. */
export type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

/**
 * How often a transaction that lost against another one is made in all. Of two that deadlock one
 * goes on, so the next attempt waits for it and no longer; more than a few mean something else.
 */
const mostAttempts = 5;

/**
 * Runs `work` in a transaction, and at once again where Postgres ends it for another one's sake
 * (40001, 40P01, 25P03): nothing of it is written then, and its pages are paid for. `work` must hold
 * nothing of an attempt that failed.
 *
 * A connection of a failed transaction is closed, whatever state it is in. drizzle's own
 * transaction never gives it back to the pool when `begin` itself fails: a pool of 12 was empty
 * for ever after connections had been cut 12 times at that moment.
 *
 * @throws what `work` throws, and what Postgres throws
 */
export async function transact<T>(
  db: Pick<Database, '$client'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(db.$client, work);
    } catch (error) {
      if (attempt === mostAttempts || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isFailed = true;
  // What the server says between two queries is the reason; the next query only finds nobody there.
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
