import type { Pool, PoolClient } from 'pg';

/**
 * Runs `work` in a transaction on a connection of its own, which is closed where it fails: that rolls back
 * whatever it was in the middle of.
 *
 * @throws what `work` throws, and what Postgres throws
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> {
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
}
