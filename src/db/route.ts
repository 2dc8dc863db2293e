import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { errorOf } from '../failure.ts';
import { asInLibpq } from './url.ts';
import { z } from 'zod';
import { rowsOf } from './transaction.ts';

/** The connection does not keep what the program needs. The message says what to do. */
export class PoolerError extends errorOf('pooler') {}

/** A server's address. Settings belong to a session, so it keeps sessions. */
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
export const demandSession = (url: string, timeoutMs = connectTimeoutMs): Promise<SessionWay> =>
  withClient(url, timeoutMs, async (client) => {
    // The session has no settings yet, so names are qualified.
    const rows = await rowsOf(
      client,
      () => z.object({ pid: z.number(), path: z.string(), isStandby: z.boolean() }),
      `select pg_catalog.pg_backend_pid() as pid, pg_catalog.current_setting('search_path') as path,
              pg_catalog.pg_is_in_recovery() as "isStandby"`,
    );
    const [{ pid, path, isStandby } = { pid: 0, path: '', isStandby: false }] = rows;
    // Public in node-postgres, but not in its types.
    if (pid === Reflect.get(client, 'processID')) return { url, isPooled: false };
    // pg-boss's listener has a connection of its own, with the path of the role or the database.
    if (path.includes('pg_catalog') && !/^"?pg_catalog"?(?:,|$)/u.test(path)) {
      throw new PoolerError(
        `DATABASE_URL leads through a pooler, and the search_path of this role or database, ${path}, has other schemas before pg_catalog: reset it with "alter role" or "alter database", or name the server itself.`,
      );
    }
    if (!isStandby && (await keepsSession(client, url, timeoutMs))) return { url, isPooled: true };
    throw new PoolerError(
      'DATABASE_URL leads through a pooler in transaction mode, or through any pooler to a standby, which may lose the settings and locks of a session: name the server itself, or a pooler in session mode.',
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
const keepsSession = (client: Client, url: string, timeoutMs: number): Promise<boolean> =>
  withClient(url, timeoutMs, async (other) => {
    const word = randomBytes(8).toString('hex');
    const notified = new Set<Client>();
    for (const each of [client, other]) {
      each.on('notification', ({ payload }) => payload === word && notified.add(each));
    }
    await client.query(`listen ${channel}`);
    await other.query('select pg_catalog.pg_notify($1, $2)', [channel, word]);
    // A notified second client has taken over the session.
    for (let look = 0; look < looks && notified.size === 0; look += 1) {
      await delay(lookIntervalMs);
      await client.query('select 1');
    }
    await client.query(`unlisten ${channel}`);
    return notified.has(client);
  });

async function withClient<T>(
  url: string,
  timeoutMs: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    connectionString: asInLibpq(url),
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
