import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { describeDatabaseError } from './failure.ts';
import { parseUrl } from './timeouts.ts';

/** How statements reach Postgres: a session each, or through a pooler that keeps one or does not. */
export type Route =
  { readonly is: 'direct' } | { readonly is: 'session' | 'transaction'; readonly pooler: string };

/** The way to Postgres does not keep what the program needs. The message says what to do. */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
}

/** For a new connection, and for each answer. */
const connectTimeoutMs = 10_000;

/**
 * Finds out whether a pooler is in between. A pooler answers requests to cancel itself, so it gives clients a
 * process number of its own; a tunnel or HAProxy passes the server's through.
 */
export const findRoute = (url: string): Promise<Route> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // node-postgres has it public, but not in its types.
    if (rows[0]?.pid === Reflect.get(client, 'processID')) return { is: 'direct' };
    const pooler = await poolerName(url);
    return { is: (await keepsSession(client, url)) ? 'session' : 'transaction', pooler };
  });

/** The ways of one process to a database. */
export interface Ways {
  readonly route: Route;
  /** Where sessions are kept: for job locks, and for the queue, which listens. */
  readonly session: { readonly url: string; readonly isPooled: boolean };
}

/**
 * @param directUrl leads past a pooler; null if there is none
 * @throws PoolerError if no session is kept, or the two lead to different databases, or one to none
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

/** The name that a pooler reports. */
async function poolerName(url: string): Promise<string> {
  const console = parseUrl(url);
  // PgBouncer's console, which it keeps from most users, and says so in its own words.
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
/** How often, and how far apart in ms, it is looked whether a notification has come. */
const looks = 40;
const lookIntervalMs = 25;

/**
 * Whether a session is this client's own between two transactions: only then a notification reaches it. A setting or
 * a lock is no evidence: a pooler with one idle session hands out the same one again.
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
    // If the other one is notified, the session is that one's now.
    for (let look = 0; look < looks && notified.size === 0; look += 1) {
      await delay(lookIntervalMs);
      await client.query('select 1');
    }
    await client.query(`unlisten ${channel}`);
    return notified.has(client);
  });

/** A lock in one database would not show workers of another one that this one lives. */
async function demandSameDatabase(url: string, directUrl: string): Promise<void> {
  const key = randomBytes(8).readBigInt64BE().toString();
  const isSame = await withClient(directUrl, async (holder) => {
    await holder.query('begin');
    await holder.query('select pg_advisory_xact_lock($1)', [key]);
    const { rows } = await withClient(url, (client) =>
      client.query<{ is_seen: boolean }>(seesLock, [key]),
    );
    await holder.query('rollback');
    return rows[0]?.is_seen === true;
  });
  if (isSame) return;
  throw new PoolerError(
    'DATABASE_URL_DIRECT and DATABASE_URL lead to different databases: both have to name the same one.',
  );
}

const seesLock = `
  select exists (
    select from pg_locks
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and ((classid::bigint << 32) | objid::bigint) = $1
  ) as is_seen`;

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
