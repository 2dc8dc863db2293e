import { type ClientBase, Pool } from 'pg';
import {
  keepAliveDelayMs,
  quickReading,
  settingsFor,
  withSettings,
  type DatabaseTimeouts,
  type ServerSettings,
} from './timeouts.ts';
import { settingsOfTransactions } from './transaction.ts';

/** A sleeping or distant server answers within 2 s. Also bounds the wait for a full pool. */
const connectTimeoutMs = 10_000;

/**
 * A pool of connections; int8 and numeric arrive as strings, because numbers lose digits. `idleTimeoutMs` 0 keeps
 * connections for ever. Without `dbTimeouts` queries have no limit, as migrations need. `pooled` states what keeps
 * `settings` behind a pooler, which may refuse those of a new connection: its session, or each transaction.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  idleTimeoutMs?: number;
  dbTimeouts?: DatabaseTimeouts;
  settings?: ServerSettings;
  pooled?: 'sessions' | 'transactions';
}): Pool {
  const { url, dbTimeouts, pooled } = options;
  const settings = {
    ...(dbTimeouts !== undefined && settingsFor(dbTimeouts)),
    ...options.settings,
  };
  const pool = new Pool({
    connectionString: pooled === undefined ? withSettings(url, settings) : url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    ...(pooled === 'sessions' && { onConnect: (client) => configureSession(client, settings) }),
    ...(dbTimeouts !== undefined && { query_timeout: dbTimeouts.answerMs }),
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  // An error event of a dead connection without a listener ends the process: it comes from the pool
  // while idle, from the client while in use. The pool drops it, and its next query fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
  if (pooled === 'transactions') {
    const all = Object.entries(settings).map(([name, value]) => `; set local ${name} = '${value}'`);
    settingsOfTransactions.set(pool, all.join(''));
  }
  return pool;
}

/** The pool awaits the result before it hands the connection out; its types do not say so. */
function configureSession(client: ClientBase, settings: ServerSettings): unknown {
  const all = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  return client.query(all.join('; '));
}

/** A transaction for each slice's walks, the watch, progress lines. */
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
