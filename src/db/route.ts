import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { errorOf } from '../failure.ts';

/** The connection does not keep what the program needs. The message says what to do. */
export class PoolerError extends errorOf('pooler') {}

/** A connection for job locks and for the queue, which listens: both belong to a session. */
export interface SessionWay {
  readonly url: string;
  /** A pooler may refuse settings at a session's start. */
  readonly isPooled: boolean;
}

const connectTimeoutMs = 10_000;

/**
 * Detects a pooler by its own process numbers; a tunnel or HAProxy keeps the server's.
 * @throws PoolerError if it keeps no session
 */
export const demandSession = (url: string): Promise<SessionWay> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Public in node-postgres, but not in its types.
    if (rows[0]?.pid === Reflect.get(client, 'processID')) return { url, isPooled: false };
    if (await keepsSession(client, url)) return { url, isPooled: true };
    throw new PoolerError(
      'DATABASE_URL leads through a pooler in transaction mode, which loses the locks that show which workers live: name the server itself, or a pooler in session mode.',
    );
  });

const channel = 'explorer_etl_route';
/** Number and interval (ms) of checks for a notification. */
const looks = 40;
const lookIntervalMs = 25;

/**
 * Whether a session stays this client's between two transactions: only then does a notification arrive. A setting or a
 * lock is no evidence, because a pooler with one idle session returns the same one.
 */
const keepsSession = (client: Client, url: string): Promise<boolean> =>
  withClient(url, async (other) => {
    const word = randomBytes(8).toString('hex');
    const notified = new Set<Client>();
    for (const each of [client, other]) {
      each.on('notification', ({ payload }) => payload === word && notified.add(each));
    }
    await client.query(`listen ${channel}`);
    await other.query('select pg_notify($1, $2)', [channel, word]);
    // A notified second client has taken over the session.
    for (let look = 0; look < looks && notified.size === 0; look += 1) {
      await delay(lookIntervalMs);
      await client.query('select 1');
    }
    await client.query(`unlisten ${channel}`);
    return notified.has(client);
  });

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: connectTimeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
