import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { errorOf } from '../failure.ts';
import { describeDatabaseError } from './failure.ts';
import { isHeld } from './lock.ts';
import { parseUrl } from './timeouts.ts';

/** How statements reach Postgres: directly, or through a pooler that keeps sessions or does not. */
export type Route =
  { readonly is: 'direct' } | { readonly is: 'session' | 'transaction'; readonly pooler: string };

/** The connection does not keep what the program needs. The message says what to do. */
export class PoolerError extends errorOf('pooler') {}

const connectTimeoutMs = 10_000;

/** Detects a pooler by its own process numbers; a tunnel or HAProxy keeps the server's. */
export const findRoute = (url: string): Promise<Route> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Public in node-postgres, but not in its types.
    if (rows[0]?.pid === Reflect.get(client, 'processID')) return { is: 'direct' };
    const pooler = await poolerName(url);
    return { is: (await keepsSession(client, url)) ? 'session' : 'transaction', pooler };
  });

export interface Ways {
  readonly route: Route;
  /** A connection that keeps sessions, for job locks and for the queue, which listens. */
  readonly session: { readonly url: string; readonly isPooled: boolean };
}

/**
 * `directUrl` bypasses a pooler.
 * @throws PoolerError if no session is kept, or the URLs lead to different databases
 */
export async function findWays(url: string, directUrl: string | null): Promise<Ways> {
  const route = await findRoute(url);
  if (directUrl === null) {
    if (route.is === 'transaction') throw new PoolerError(noSession('DATABASE_URL', route.pooler));
    return { route, session: { url, isPooled: route.is !== 'direct' } };
  }
  const direct = await findRoute(directUrl).catch((error: unknown) => {
    const why = describeDatabaseError(error);
    throw new PoolerError(`DATABASE_URL_DIRECT can't be used: ${why}.`, { cause: error });
  });
  if (direct.is === 'transaction') {
    throw new PoolerError(noSession('DATABASE_URL_DIRECT', direct.pooler));
  }
  await demandSameDatabase(url, directUrl);
  return { route, session: { url: directUrl, isPooled: direct.is !== 'direct' } };
}

const noSession = (variable: string, pooler: string) =>
  `${variable} leads through ${pooler} in transaction mode, which keeps no session: the locks that show ` +
  'which workers live would stay with somebody else. Let DATABASE_URL_DIRECT name the server itself; ' +
  'pages still go the way of DATABASE_URL. Or let DATABASE_URL name the server.';

async function poolerName(url: string): Promise<string> {
  const console = parseUrl(url);
  // PgBouncer's console refuses most users, in a message of its own.
  console.pathname = '/pgbouncer';
  try {
    return await withClient(console.href, async (client) => {
      const { rows } = await client.query<{ version: string }>('show version');
      return rows[0]?.version ?? 'PgBouncer';
    });
  } catch (error) {
    const isKept = error instanceof DatabaseError && error.message === 'not allowed';
    return isKept ? 'PgBouncer' : 'a pooler';
  }
}

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

/** A lock in one database does not show this process to workers of another. */
async function demandSameDatabase(url: string, directUrl: string): Promise<void> {
  const key = randomBytes(8).readBigInt64BE().toString();
  const isSame = await withClient(directUrl, async (holder) => {
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [key]);
    const { rows } = await withClient(url, (client) =>
      client.query(`select from pg_locks where ${isHeld}`, [key]),
    );
    await holder.query('rollback');
    return rows.length > 0;
  });
  if (isSame) return;
  throw new PoolerError(
    'DATABASE_URL_DIRECT and DATABASE_URL lead to different databases: both have to name the same one.',
  );
}

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
