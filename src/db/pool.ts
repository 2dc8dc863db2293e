import { createHash } from 'node:crypto';
import { Pool, type ClientBase, type PoolClient } from 'pg';
import { isNameLost } from './failure.ts';
import {
  breakUnanswered,
  keepAliveDelayMs,
  quickReading,
  settingsFor,
  withSettings,
  type DatabaseTimeouts,
  type ServerSettings,
} from './timeouts.ts';

/** A sleeping or distant server answers within 2 s. Also bounds the wait for a full pool. */
const connectTimeoutMs = 10_000;

/**
 * A pool of connections; int8 and numeric arrive as strings, because numbers lose digits. `idleTimeoutMs` 0 keeps
 * connections for ever. Without `dbTimeouts` queries have no limit, as migrations need. `pooled` states what keeps
 * `settings` behind a pooler, which may refuse those of a new connection; statements then have no names. `planned`
 * statements, which begin with a comment, are planned once per connection, so the plan must suit larger tables.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  idleTimeoutMs?: number;
  dbTimeouts?: DatabaseTimeouts;
  settings?: ServerSettings;
  pooled?: 'sessions' | 'transactions';
  planned?: 'labelled';
}): Pool {
  const { url, dbTimeouts, pooled } = options;
  const settings = {
    ...(dbTimeouts !== undefined && settingsFor(dbTimeouts)),
    ...options.settings,
  };
  const naming = { isUseful: pooled === undefined };
  const pool = new Pool({
    connectionString: pooled === undefined ? withSettings(url, settings) : url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    ...(pooled === 'sessions' && { onConnect: (client) => configureSession(client, settings) }),
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  // An error event of a dead connection without a listener ends the process: it comes from the pool
  // while idle, from the client while in use. The pool drops it, and its next query fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    if (dbTimeouts !== undefined) breakUnanswered(client, dbTimeouts.answerMs);
    if (options.planned !== undefined) nameStatements(client, naming);
    if (pooled === 'transactions') configureTransactions(client, settings);
  });
  return pool;
}

/** The pool awaits the result before it hands the connection out; its types do not say so. */
function configureSession(client: ClientBase, settings: ServerSettings): unknown {
  const all = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  return client.query(all.join('; '));
}

/** Sends settings with each `begin`: only a transaction can hold locks for a silent client. */
function configureTransactions(client: PoolClient, settings: ServerSettings): void {
  const all = Object.entries(settings).map(([name, value]) => `; set local ${name} = '${value}'`);
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  client.query = ((statement: unknown, ...rest: unknown[]) => {
    const text = typeof statement === 'string' ? statement : textOf(statement);
    if (text === undefined || !/^begin\b/iu.test(text)) return query(statement, ...rest);
    return query(`${text}${all.join('')}`, ...rest);
  }) as typeof client.query;
}

const textOf = (statement: unknown): string | undefined =>
  typeof statement === 'object' && statement !== null && 'text' in statement
    ? String(statement.text)
    : undefined;

/**
 * Names labelled statements, so that the server reuses their plans. `naming` ends once the server does not know a
 * name: a pooler that changes servers between transactions allows no names.
 */
function nameStatements(client: PoolClient, naming: { isUseful: boolean }): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const names = new Map<string, string>();
  const named = (statement: unknown): unknown => {
    const text = textOf(statement);
    if (text === undefined) return statement;
    if (!naming.isUseful) return { ...Object(statement), name: undefined };
    if (!text.startsWith('/*')) return statement;
    const name = names.get(text) ?? createHash('sha256').update(text).digest('hex').slice(0, 32);
    names.set(text, name);
    return { ...Object(statement), name };
  };
  client.query = ((statement: unknown, ...rest: unknown[]) => {
    const answer = query(named(statement), ...rest);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (isNameLost(error)) naming.isUseful = false;
      });
    }
    return answer;
  }) as typeof client.query;
}

/** A transaction for each slice's walkers, the watch, progress lines. */
export const poolConnections = 12;
/** As in pg_stat_activity. */
export const applicationName = 'explorer-etl';
/** They only reserve request slots. */
const budgetConnections = 4;

/** The pools for pages and for request slots. */
export function openWorkPools(url: string, isPooled: boolean, dbTimeouts: DatabaseTimeouts) {
  const quick = {
    url,
    dbTimeouts,
    planned: 'labelled',
    settings: quickReading,
    ...(isPooled && { pooled: 'transactions' as const }),
  } as const;
  return {
    pool: createPool({ ...quick, max: poolConnections, applicationName }),
    budgetPool: createPool({
      ...quick,
      // A slot lost in a crash costs nothing, so its commit need not reach the disk.
      settings: { ...quickReading, synchronous_commit: 'off' },
      max: budgetConnections,
      applicationName: `${applicationName} budget`,
    }),
  };
}
