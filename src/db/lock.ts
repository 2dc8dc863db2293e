import { Client, type Pool, type PoolClient } from 'pg';

/** A connection of its own, from a pool or not. */
export type Session = Client | PoolClient;

/** A server that does not answer is reported within this many milliseconds. */
const connectTimeoutMs = 10_000;

/**
 * Runs `work` on one connection that holds the session advisory lock `key`, waiting for it first.
 * The lock ends with the work, or with the connection if that is lost. Needs a direct connection:
 * a pooler in transaction mode would give the lock to somebody else's session.
 */
export async function withAdvisoryLock<T>(
  database: Pool | string,
  key: bigint,
  work: (client: Session) => Promise<T>,
): Promise<T> {
  return withClient(database, async (client) => {
    await client.query('select pg_advisory_lock($1)', [key.toString()]);
    const result = await work(client);
    await client.query('select pg_advisory_unlock($1)', [key.toString()]);
    return result;
  });
}

async function withClient<T>(
  database: Pool | string,
  work: (client: Session) => Promise<T>,
): Promise<T> {
  if (typeof database === 'string') {
    const client = new Client({
      connectionString: database,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end();
    }
  }
  const client = await database.connect();
  // Closing the session after a failure frees its locks, whatever state it is in.
  let isFailed = true;
  try {
    const result = await work(client);
    isFailed = false;
    return result;
  } finally {
    client.release(isFailed);
  }
}
