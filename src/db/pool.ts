import { createHash } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import {
  breakUnanswered,
  keepAliveDelayMs,
  withTimeouts,
  type DatabaseTimeouts,
} from './timeouts.ts';

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
 * @param options.dbTimeouts how long its queries may take; for ever if absent, as migrations may.
 * @param options.namesStatements whether statements are planned once for each connection, for work
 *   that repeats a few of them many times.
 * @param options.isPipelined whether statements are sent before those before them are answered.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  idleTimeoutMs?: number;
  dbTimeouts?: DatabaseTimeouts;
  namesStatements?: boolean;
  isPipelined?: boolean;
}): Pool {
  const { url, dbTimeouts } = options;
  const pool = new Pool({
    connectionString: dbTimeouts === undefined ? url : withTimeouts(url, dbTimeouts),
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    pipeline: options.isPipelined ?? false,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  // A connection that dies emits an error, which ends the process if nobody listens: on the pool
  // while the connection is idle, on the client while someone holds it between two queries. The
  // pool drops it either way, and a query on it fails with the same news.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    if (dbTimeouts !== undefined) breakUnanswered(client, dbTimeouts.answerMs);
    if (options.namesStatements === true) nameStatements(client);
  });
  return pool;
}

/** Gives each statement with parameters a name, by which the server knows its plan again. */
function nameStatements(client: PoolClient): void {
  const query = client.query.bind(client) as (...told: unknown[]) => unknown;
  const names = new Map<string, string>();
  const named = (statement: unknown): unknown => {
    if (typeof statement !== 'object' || statement === null || !('text' in statement)) {
      return statement;
    }
    const text = String(statement.text);
    const name = names.get(text) ?? createHash('sha256').update(text).digest('hex').slice(0, 32);
    names.set(text, name);
    return { ...statement, name };
  };
  client.query = ((statement: unknown, ...rest: unknown[]) =>
    query(named(statement), ...rest)) as typeof client.query;
}
