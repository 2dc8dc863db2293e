import { type ClientBase, Pool } from 'pg';
import {
  keepAliveDelayMs,
  quickReading,
  settingsFor,
  withSettings,
  type DatabaseTimeouts,
  type ServerSettings,
} from './timeouts.ts';
import type { SessionWay } from './route.ts';

/** A sleeping or distant server answers within 2 s. Also bounds the wait for a full pool. */
const connectTimeoutMs = 10_000;

/**
 * A pool of connections; int8 and numeric arrive as strings, because numbers lose digits. `idleTimeoutMs` 0 keeps
 * connections for ever. Without `dbTimeouts` queries have no limit, as migrations need. A
 * pooler may refuse `settings` in a new connection's options: with `isPooled` they are sent once it is open.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  idleTimeoutMs?: number;
  dbTimeouts?: DatabaseTimeouts;
  settings?: ServerSettings;
  isPooled?: boolean;
}): Pool {
  const { url, dbTimeouts, isPooled = false } = options;
  const settings = {
    ...(dbTimeouts !== undefined && settingsFor(dbTimeouts)),
    ...options.settings,
  };
  const pool = new Pool({
    connectionString: isPooled ? url : withSettings(url, settings),
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    ...(isPooled && { onConnect: (client) => configureSession(client, settings) }),
    ...(dbTimeouts !== undefined && { query_timeout: dbTimeouts.answerMs }),
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  // An error event of a dead connection without a listener ends the process: it comes from the pool
  // while idle, from the client while in use. The pool drops it, and its next query fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
  });
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
export function openWorkPools(way: SessionWay, dbTimeouts: DatabaseTimeouts) {
  const quick = { ...way, dbTimeouts, settings: quickReading };
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
