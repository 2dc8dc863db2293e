import { Socket } from 'node:net';
import type { Client } from 'pg';

/** How long a side of a connection waits for the other one. */
export interface DatabaseTimeouts {
  /** What was asked and has no answer by then means that the connection is gone, in ms. */
  readonly answerMs: number;
  /** Ended by the server: a statement that takes longer, in ms; it holds locks. */
  readonly statementMs?: number;
  /** Ended by the server: a transaction whose client says nothing for so long, in ms. */
  readonly idleTransactionMs?: number;
  /** Ended by the server: a session whose client says nothing for so long, in ms. */
  readonly idleSessionMs?: number;
}

/**
 * Of a connection that works on pages. Statements take milliseconds; one that takes a minute waits
 * for a lock, and its feed had better rest. The server says so before the client gives up on it. A
 * transaction never waits for the explorer, so silent seconds are those of a process that was
 * stopped, or of a machine that is gone, and its successor, which comes within three, wants the rows
 * that it locked. One that was only slow has lost the transaction, and makes it again.
 */
export const workTimeouts: DatabaseTimeouts = {
  statementMs: 60_000,
  answerMs: 75_000,
  idleTransactionMs: 2_500,
};

/** Before the first probe of a silent connection, in ms; Linux waits for two hours by default. */
export const keepAliveDelayMs = 10_000;

/** The same for the server's side, which else keeps a vanished machine's locks for two hours. */
const serverKeepAlive = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
};

/** Settings of the server by name, for a session or a transaction. */
export type ServerSettings = Readonly<Record<string, number | string>>;

/**
 * Of a connection that reads. To compile a statement as large as that of coverage takes seconds, and none
 * reads so many rows that this pays.
 */
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

/**
 * A URL of Postgres as an object. That of a socket may name no host after the user, which URL refuses:
 * node-postgres puts another in its place too, and goes by the parameter `host`.
 */
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
 * Breaks a connection when what was written last is not answered in time: behind a proxy or a
 * firewall that swallows what it is given, TCP itself notices nothing. Not node-postgres's
 * `query_timeout`, which reports the query and leaves the connection, with the lost query still
 * before all others, to the next one. An idle connection is silent after an answer, and stays.
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
  // Node's timer begins anew with each byte, in either direction.
  socket.setTimeout(answerMs);
  socket.on('timeout', () => {
    if (!isAsking) return;
    const lost = new Error(`no answer within ${answerMs} ms`);
    socket.destroy(Object.assign(lost, { code: 'ETIMEDOUT' }));
  });
}
