import { createHash } from 'node:crypto';
import { Pool, type ClientBase, type PoolClient } from 'pg';
import { isNameLost } from './failure.ts';
import { signals, stopwatch } from '../signals.ts';
import {
  breakUnanswered,
  keepAliveDelayMs,
  settingsFor,
  withSettings,
  type DatabaseTimeouts,
  type ServerSettings,
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
 * @param options.settings further settings of the server for its sessions.
 * @param options.pooled what keeps its settings where a pooler is in between, which may refuse or drop
 *   what a connection is told as it is made: sessions, where the pooler keeps them, or transactions.
 *   Statements have no names then. Absent: there is no pooler.
 * @param options.planned which statements are planned once for each connection: those that begin with a
 *   comment, their label. That is for work that repeats a few of them many times. A plan that
 *   is kept was made for the tables as they were, so it must hold for larger ones.
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
    ...(pooled === 'sessions' && { onConnect: (client) => tellSession(client, settings) }),
    ...(options.idleTimeoutMs !== undefined && { idleTimeoutMillis: options.idleTimeoutMs }),
  });
  tellWaits(pool, options.applicationName);
  // A connection that dies emits an error, which ends the process if nobody listens: on the pool
  // while the connection is idle, on the client while someone holds it between two queries. The
  // pool drops it either way, and a query on it fails with the same news.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    if (dbTimeouts !== undefined) breakUnanswered(client, dbTimeouts.answerMs);
    if (options.planned !== undefined) nameStatements(client, naming);
    if (pooled === 'transactions') tellTransactions(client, settings);
  });
  return pool;
}

/** Tells how long whoever asks for a connection waits for it: also the pool's own queries. */
function tellWaits(pool: Pool, name: string): void {
  type Connect = (got?: (...answer: unknown[]) => void) => Promise<PoolClient> | undefined;
  const connect = pool.connect.bind(pool) as Connect;
  const told: Connect = (got) => {
    if (!signals.poolWait.isHeard()) return connect(got);
    const taken = stopwatch();
    const tell = () => signals.poolWait.tell(() => ({ name, ms: taken() }));
    if (got !== undefined) {
      return connect((...answer) => {
        tell();
        got(...answer);
      });
    }
    return connect()?.finally(tell);
  };
  pool.connect = told as typeof pool.connect;
}

/** The pool waits for what this returns before it hands the connection out; its types do not say so. */
function tellSession(client: ClientBase, settings: ServerSettings): unknown {
  const all = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
  return client.query(all.join('; '));
}

/**
 * Sends the settings of a transaction with its `begin`, in one message. What is a single statement
 * goes without: it holds no lock while its client is silent.
 */
function tellTransactions(client: PoolClient, settings: ServerSettings): void {
  const all = Object.entries(settings).map(([name, value]) => `; set local ${name} = '${value}'`);
  const query = client.query.bind(client) as (...told: unknown[]) => unknown;
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
 * Gives labelled statements a name, by which the server knows their plan again.
 *
 * @param naming whether the server knows a name that it was told. Behind a pooler that changes servers
 *   between two transactions it does not; then the pool uses no names any more, nor one that
 *   a statement has by itself.
 */
function nameStatements(client: PoolClient, naming: { isUseful: boolean }): void {
  const query = client.query.bind(client) as (...told: unknown[]) => unknown;
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
