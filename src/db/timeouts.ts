/** Time limits of a connection, in ms. */
export interface DatabaseTimeouts {
  /** Without a query's answer by then, its connection counts as lost, and is closed. */
  readonly answerMs: number;
  /** The server ends longer statements, which hold locks. */
  readonly statementMs?: number;
  /** The server ends transactions of clients that are silent for longer. */
  readonly idleTransactionMs?: number;
  /** The server ends sessions of clients that are silent for longer. */
  readonly idleSessionMs?: number;
}

/**
 * For work on pages. Statements take ms; one of a minute waits for a lock, and the server ends it before the client
 * gives up. Transactions never wait for the explorer: a silent one hangs, and holds rows that others need.
 */
export const workTimeouts: DatabaseTimeouts = {
  statementMs: 60_000,
  answerMs: 75_000,
  idleTransactionMs: 2_500,
};

/** Before the first probe of a silent connection: Linux's default is two hours. */
export const keepAliveDelayMs = 10_000;

/** The server's probes: by default it keeps a vanished machine's locks for two hours. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
};

export type ServerSettings = Readonly<Record<string, number | string>>;

/** Compiling a statement as large as coverage's takes seconds, more than it saves. */
export const quickReading: ServerSettings = { jit: 'off' };

export function settingsFor(dbTimeouts: DatabaseTimeouts): ServerSettings {
  const { statementMs, idleTransactionMs, idleSessionMs } = dbTimeouts;
  return {
    ...serverKeepAlive,
    ...(statementMs !== undefined && { statement_timeout: statementMs }),
    ...(idleTransactionMs !== undefined && {
      idle_in_transaction_session_timeout: idleTransactionMs,
    }),
    ...(idleSessionMs !== undefined && { idle_session_timeout: idleSessionMs }),
  };
}

/** Parses a Postgres URL. A socket's may lack a host; one is added, as in node-postgres. */
export const parseUrl = (url: string): URL =>
  URL.parse(url) ?? new URL(url.replace('@/', '@nowhere.invalid/'));

/** The URL with an application name for `pg_stat_activity`. */
export function withName(url: string, name: string): string {
  const changed = parseUrl(url);
  changed.searchParams.set('application_name', name);
  return changed.href;
}

/** The URL with session settings; those that it already has win. */
export function withSettings(url: string, settings: ServerSettings): string {
  if (Object.keys(settings).length === 0) return url;
  const changed = parseUrl(url);
  const own = changed.searchParams.get('options') ?? '';
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  // The last of two wins: the user's own.
  changed.searchParams.set('options', [...flags, own].join(' ').trim());
  return changed.href;
}
