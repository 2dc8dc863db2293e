import { type ClientBase, Pool } from 'pg';
import type { SessionWay } from './route.ts';
import { asInLibpq, parseUrl } from './url.ts';

/** A sleeping or distant server answers within 2 s. Also bounds the wait for a full pool. */
const connectTimeoutMs = 10_000;
/** Before the first probe of a silent connection: Linux's default is two hours. */
const keepAliveDelayMs = 10_000;

export type ServerSettings = Readonly<Record<string, number | string>>;

/** Time limits of a connection. */
export interface DatabaseTimeouts {
  /** Without a query's answer by then, in ms, its connection counts as lost, and is closed. */
  readonly answerMs: number;
  /** The server's limits for statements, which hold locks, and for silent transactions and sessions. */
  readonly server?: ServerSettings;
}

/**
 * For work on pages. Statements take ms; one of a minute waits for a lock, and the server ends it before the client
 * gives up. Transactions never wait for the explorer: a silent one hangs, and holds rows that others need.
 */
export const workTimeouts: DatabaseTimeouts = {
  answerMs: 75_000,
  server: { statement_timeout: 60_000, idle_in_transaction_session_timeout: 2_500 },
};

/** The server's probes: by default it keeps a vanished machine's locks for two hours. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
};

/** Compiling a statement as large as coverage's takes seconds, more than it saves. */
export const quickReading: ServerSettings = { jit: 'off' };

export interface ConnectionOptions {
  readonly url: string;
  readonly max: number;
  readonly applicationName: string;
  /** Without them queries have no limit, as migrations need. */
  readonly dbTimeouts?: DatabaseTimeouts;
  readonly settings?: ServerSettings;
  /** A pooler may refuse settings in a new connection's options: they are sent once it is open. */
  readonly isPooled?: boolean;
}

/**
 * Of every session; the URL, the role and the database do not change them. With another search path a name in a
 * statement could mean another user's function or operator, which then runs with this role's rights.
 */
const sessionSettings: ServerSettings = {
  search_path: 'pg_catalog,pg_temp',
  // Each statement sees what others have committed, for the commits of walks lock and then look.
  default_transaction_isolation: 'read committed',
  // pg-boss makes its schema with backslashes in texts.
  standard_conforming_strings: 'on',
  // Drizzle and JavaScript read the texts of times.
  DateStyle: 'ISO, MDY',
  // Numbers are read as float8, and must keep their digits.
  extra_float_digits: 1,
  // What is recorded of views is compared with their names.
  quote_all_identifiers: 'off',
  // A worker's role reads labels by a policy; without policies Postgres refuses the statement.
  row_security: 'on',
};

/** Instead of what the role or the database has for people and other programs; those of the URL win. */
const ownSettings: ServerSettings = {
  default_transaction_read_only: 'off',
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  idle_session_timeout: 0,
};

const settingsOf = ({ dbTimeouts, settings }: ConnectionOptions): ServerSettings => ({
  ...ownSettings,
  ...(dbTimeouts !== undefined && { ...serverKeepAlive, ...dbTimeouts.server }),
  ...settings,
});

/** What node-postgres needs to know of a pool's connections. */
export function connectionConfig(options: ConnectionOptions) {
  const { url, max, applicationName, dbTimeouts, isPooled = false } = options;
  return {
    connectionString: asInLibpq(isPooled ? url : urlWithSettings(url, settingsOf(options))),
    max,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    ...(dbTimeouts !== undefined && { query_timeout: dbTimeouts.answerMs }),
    // The pool awaits the result before it hands the connection out; its types do not say so.
    onConnect: (client: ClientBase): unknown => {
      // An error event of a dead connection without a listener ends the process: it comes from the pool while idle, from
      // the client while in use or while it is being closed. The pool drops it, and its next query fails.
      client.on('error', () => {});
      return isPooled ? configureSession(client, settingsOf(options)) : undefined;
    },
  };
}

/**
 * A pool of connections; int8 and numeric arrive as strings, because numbers lose digits. `idleTimeoutMs` 0 keeps
 * connections for ever.
 */
export function createPool({
  idleTimeoutMs,
  ...options
}: ConnectionOptions & { readonly idleTimeoutMs?: number }): Pool {
  const pool = new Pool({
    ...connectionConfig(options),
    connectionTimeoutMillis: connectTimeoutMs,
    ...(idleTimeoutMs !== undefined && { idleTimeoutMillis: idleTimeoutMs }),
  });
  pool.on('error', () => {});
  return pool;
}

function configureSession(client: ClientBase, settings: ServerSettings): unknown {
  const all = Object.entries({ ...settings, ...sessionSettings }).map(
    ([name, value]) => `pg_catalog.set_config('${name}', '${value}', false)`,
  );
  return client.query(`select ${all.join()}`);
}

/** Of a command or a page beside the work: one for the status, so that no slow query delays health and metrics. */
export const ownConnections = 2;
/** As in pg_stat_activity. */
export const applicationName = 'explorer-etl';
/** They only reserve request slots. */
const budgetConnections = 3;

/** The pools for pages and for request slots, with so many connections together. */
export function openWorkPools(way: SessionWay, dbTimeouts: DatabaseTimeouts, connections: number) {
  const quick = { ...way, dbTimeouts, settings: quickReading };
  return {
    pool: createPool({ ...quick, max: connections - budgetConnections, applicationName }),
    budgetPool: createPool({
      ...quick,
      // A slot lost in a crash costs nothing, so its commit need not reach the disk.
      settings: { ...quickReading, synchronous_commit: 'off' },
      max: budgetConnections,
      applicationName: `${applicationName} budget`,
    }),
  };
}

/** The URL with an application name for `pg_stat_activity`. */
export function withName(url: string, name: string): string {
  const changed = parseUrl(url);
  changed.searchParams.set('application_name', name);
  return changed.href;
}

/** The URL with session settings; those that it already has win, except over `sessionSettings`. */
export function urlWithSettings(url: string, settings: ServerSettings): string {
  const changed = parseUrl(url);
  const own = changed.searchParams.get('options') ?? '';
  // The last of two wins.
  const all = [...flagsOf(settings), ...(own === '' ? [] : [own]), ...flagsOf(sessionSettings)];
  changed.searchParams.set('options', all.join(' '));
  return changed.href;
}

const flagsOf = (settings: ServerSettings): string[] =>
  Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`,
  );
