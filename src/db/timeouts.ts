import { Socket } from 'node:net';
import type { Client } from 'pg';

/** How long a side of a connection waits for the other one. */
export interface DatabaseTimeouts {
  /** A query without an answer by then means that the connection is gone. */
  readonly answerMs: number;
  /** Ended by the server: a statement that takes longer, in ms; it holds locks. */
  readonly statementMs?: number;
  /** Ended by the server: a transaction whose client says nothing for so long, in ms. */
  readonly idleTransactionMs?: number;
  /** Ended by the server: a session whose client says nothing for so long, in ms. */
  readonly idleSessionMs?: number;
}

/**
 * Of a connection that works on pages. Statements take milliseconds: one that takes a minute waits for a lock, and
 * the server ends it before the client gives up. A transaction never waits for the explorer: a silent one is of a
 * process that hangs, and its successor, which comes within 3 s, needs the rows that it locked.
 */
export const workTimeouts: DatabaseTimeouts = {
  statementMs: 60_000,
  answerMs: 75_000,
  idleTransactionMs: 2_500,
};

/** Before the first probe of a silent connection: Linux waits for two hours by default. */
export const keepAliveDelayMs = 10_000;

/** The same of the server, which would keep the locks of a vanished machine for two hours. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
};

/** Settings of the server by name, for a session or a transaction. */
export type ServerSettings = Readonly<Record<string, number | string>>;

/** No statement is long enough for compiled code to pay: to compile one as large as that of coverage takes seconds. */
export const quickReading: ServerSettings = { jit: 'off' };

/** The server's part of the timeouts. */
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

/** A URL of Postgres. Of a socket it may lack a host, which URL refuses; node-postgres adds one too. */
export const parseUrl = (url: string): URL =>
  URL.parse(url) ?? new URL(url.replace('@/', '@nowhere.invalid/'));

/** The URL with a name for its sessions, by which `pg_stat_activity` shows them. */
export function withName(url: string, name: string): string {
  const changed = parseUrl(url);
  changed.searchParams.set('application_name', name);
  return changed.href;
}

/** The URL with server settings for each of its sessions; those that it has already stay. */
export function withSettings(url: string, settings: ServerSettings): string {
  if (Object.keys(settings).length === 0) return url;
  const changed = parseUrl(url);
  const own = changed.searchParams.get('options') ?? '';
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  // The last of two wins: what a person wrote into the URL.
  changed.searchParams.set('options', [...flags, own].join(' ').trim());
  return changed.href;
}

/**
 * Breaks a connection if what was written last is not answered in time: behind a proxy that swallows bytes, TCP
 * notices nothing. node-postgres's `query_timeout` would leave the connection to the next query.
 */
export function breakUnanswered(client: Client, answerMs: number): void {
  // node-postgres has it public, but not in its types; after a TLS handshake it is the TLS socket.
  const socket: unknown = Reflect.get(Object(Reflect.get(client, 'connection')), 'stream');
  if (!(socket instanceof Socket)) throw new Error('a connection of node-postgres has no socket');
  let isAsking = false;
  const write = socket.write.bind(socket);
  socket.write = ((...said: Parameters<Socket['write']>) => {
    isAsking = true;
    return write(...said);
  }) as Socket['write'];
  socket.prependListener('data', () => {
    isAsking = false;
  });
  // Each byte, in either direction, starts Node's timer again.
  socket.setTimeout(answerMs);
  socket.on('timeout', () => {
    if (!isAsking) return;
    const lost = new Error(`no answer within ${answerMs} ms`);
    socket.destroy(Object.assign(lost, { code: 'ETIMEDOUT' }));
  });
}
