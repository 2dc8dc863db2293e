import { Pool } from 'pg';

/**
 * A reachable server answers within milliseconds; one that is asleep or far away within a second
 * or two. Also bounds the wait for a free connection of a full pool.
 */
const connectTimeoutMs = 10_000;

/**
 * A pool of connections. int8 and numeric arrive as strings, as node-postgres gives them: numbers
 * would lose digits. Nothing is connected until the first query.
 *
 * @param options.max connections at most.
 * @param options.applicationName shown in pg_stat_activity.
 * @param options.idleTimeoutMs how long an unused connection is kept, in ms; 0 for ever.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  idleTimeoutMs?: number;
}): Pool {
  const pool = new Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  // A connection that dies emits an error, which ends the process if nobody listens: on the pool
  // while the connection is idle, on the client while someone holds it between two queries. The
  // pool drops it either way, and a query on it fails with the same news.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  return pool;
}
