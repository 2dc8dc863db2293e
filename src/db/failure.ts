import { DatabaseError } from 'pg';
import { printable } from '../printable.ts';

/**
 * What a person calls a SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) whose text may
 * repeat a value of a row, and so is never shown; a class is its first two characters.
 */
const closedLabels: Readonly<Record<string, string>> = {
  '22': 'bad value',
  '22003': 'number out of range',
  '22007': 'not a time',
  '22021': 'character not allowed in text',
  '22P02': 'value does not fit the type',
  '22P05': 'character not allowed in text',
  '23': 'constraint violated',
  '23502': 'null where a value is required',
  '23503': 'row it refers to is missing',
  '23505': 'row exists already',
  '23514': 'check constraint violated',
};

/** Node's codes of a connection that could not be made or broke, and what a person calls them. */
const systemLabels: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'no local address left',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host name lookup failed',
  ENOENT: 'no such socket',
};

/** What a pool says whose connections are all in use. */
const queueTimeout = 'timeout exceeded when trying to connect';

/** Errors of node-postgres 8 that carry no code (pg/lib/client.js, pg-pool/index.js). */
const driverLosses: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  queueTimeout,
]);

/** To connect again may help: 25P03 and 57P05 are time-outs of idle sessions, 25006 is a server that became a standby. */
const lostStates: ReadonlySet<string> = new Set(
  '25P03 57P01 57P02 57P03 57P05 53300 25006'.split(' '),
);
/** The server does not know a statement by its name, or knows another one by it. */
const lostNames: readonly string[] = ['26000', '42P05'];
const retryableStates: ReadonlySet<string> = new Set(['40001', '40P01', '25P03', ...lostNames]);

/** Classes whose text repeats no value of a row. */
const openClasses: ReadonlySet<string> = new Set(
  '08 0A 21 25 26 28 2B 3D 3F 40 42 53 54 55 57 58 F0 XX'.split(' '),
);

/** What fits into a line of a log, in characters; the server's own texts have some hundred. */
const longestText = 500;

/**
 * One line for a log or a person about what drizzle, node-postgres or Node throws: the server's text or what its code
 * means, the code, and the table and constraint or the host and port. Never the statement, a value or a password.
 */
export function describeDatabaseError(error: unknown): string {
  const root = rootOf(error);
  if (root instanceof DatabaseError) return describeState(root);
  if (!(root instanceof Error)) return 'unknown database error';
  const code = codeOf(root);
  const label = code === undefined ? undefined : systemLabels[code];
  if (label !== undefined) return `${label} (${code})${placeOf(root)}`;
  // drizzle's message is the statement and its parameters.
  return isDrizzleQueryError(root) ? 'query failed' : textOf(root.message || root.name);
}

/** The SQLSTATE or system code behind a failure, also of one that was explained; null where it has none. */
export function codeOfFailure(error: unknown): string | null {
  const root = rootOf(error);
  return root instanceof Error ? (codeOf(root) ?? null) : null;
}

/** Whether the server ended a statement: as a rule it took longer than its session lets it. */
export const isCancelled = (error: unknown): boolean => codeOfFailure(error) === '57014';

/** True if Postgres reported the failure, or the connection to it failed. */
export const isOfDatabase = (error: unknown): boolean =>
  rootOf(error) instanceof DatabaseError || isConnectionLost(error);

/** True when the connection is gone or could not be made, so that the same work may succeed later. */
export function isConnectionLost(error: unknown): boolean {
  const root = rootOf(error);
  if (!(root instanceof Error)) return false;
  const code = codeOf(root);
  if (code === undefined) return driverLosses.has(root.message);
  if (!(root instanceof DatabaseError)) return code in systemLabels;
  return (lostStates.has(code) || code.startsWith('08')) && !isLostBehind(root);
}

/** True if the database gave no connection, or broke it off; not if all connections of a pool are in use. */
export function isAway(error: unknown): boolean {
  const root = rootOf(error);
  if (root instanceof DatabaseError && root.severity === 'FATAL') return true;
  return isConnectionLost(root) && !(root instanceof Error && root.message === queueTimeout);
}

/** The server lost its connection to another server of a cluster: ours is there, or it would be FATAL. */
const isLostBehind = ({ severity, code }: DatabaseError): boolean =>
  severity === 'ERROR' && /^(08|57P)/.test(code ?? '');

/** The SQLSTATE of what Postgres refused; empty for any other failure. */
function stateOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof DatabaseError ? (root.code ?? '') : '';
}

/** True if the transaction may be run again at once. */
export const isRetryable = (error: unknown): boolean => retryableStates.has(stateOf(error));

/** True if the server does not know a statement by its name. */
export const isNameLost = (error: unknown): boolean => lostNames.includes(stateOf(error));

/** True if the role that connects lacks a right. */
export const isPermissionDenied = (error: unknown): boolean => stateOf(error) === '42501';

function describeState(error: DatabaseError): string {
  const { code = 'no code', message } = error;
  const kind = code.slice(0, 2);
  const table = [error.schema, error.table].filter(Boolean).join('.');
  const what = openClasses.has(kind)
    ? textOf(message)
    : (closedLabels[code] ?? closedLabels[kind] ?? 'database error');
  return [
    `${what} (${code})`,
    ...(table === '' ? [] : [`table ${table}`]),
    ...(error.column === undefined ? [] : [`column ${error.column}`]),
    ...(error.constraint === undefined ? [] : [`constraint ${error.constraint}`]),
  ].join(', ');
}

/** A foreign text as a part of a line. */
const textOf = (text: string): string =>
  printable(text.length > longestText ? `${text.slice(0, longestText)}…` : text);

/** The first error of the chain that knows a code, or the innermost one. */
export function rootOf(error: unknown): unknown {
  let current = error;
  // A chain is a few links long; the bound is for one that bites its tail.
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    if (codeOf(current) !== undefined) break;
    const inner = innerOf(current);
    if (inner === undefined) break;
    current = inner;
  }
  return current;
}

function innerOf(error: Error): unknown {
  // Node tries every address of a host name and reports them together.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors[0];
  return driverLosses.has(error.message) ? undefined : error.cause;
}

const isDrizzleQueryError = (error: Error): boolean => 'query' in error && 'params' in error;

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function placeOf(
  error: NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number },
) {
  const host = error.address ?? error.hostname;
  if (host === undefined) return '';
  return error.port === undefined ? ` ${host}` : ` ${host}:${error.port}`;
}
