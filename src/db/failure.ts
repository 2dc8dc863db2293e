import { DatabaseError } from 'pg';
import { errorOf, type FailureClass, failures, isTlsError, systemLabel } from '../failure.ts';
import { printable } from '../printable.ts';
import { tlsRemedy } from './url.ts';

/**
 * Labels of SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html) and of their classes, the first
 * two characters, whose own text may repeat a value of a row and is never shown.
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

/** The pool's message if all its connections are in use. */
const queueTimeout = 'timeout exceeded when trying to connect';

const statementTimeout = 'Query read timeout';

/** Errors of node-postgres 8 without a code (pg/lib/client.js, pg-pool/index.js). */
const driverLosses: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout expired',
  statementTimeout,
  queueTimeout,
]);

/** The class of a SQLSTATE, or of its first two characters; others are `not-stored`. */
const classes: Readonly<Record<string, FailureClass>> = {
  '28': 'database-login',
  '3D000': 'database-login',
  '53100': 'database-full',
  '53300': 'database-connections',
  '25006': 'database-read-only',
  '42501': 'database-permission',
  '3F000': 'database-object',
  '42703': 'database-object',
  '42704': 'database-object',
  '42883': 'database-object',
  '42P01': 'database-object',
  '42P10': 'database-object',
};

/** The class of a failure of the database; null: the database reported none. */
export function databaseClassOf(error: unknown): FailureClass | null {
  const state = stateOf(error);
  const known = classes[state] ?? classes[state.slice(0, 2)];
  if (known !== undefined) return known;
  if (isConnectionLost(error)) return 'database-unreachable';
  return state === '' ? null : 'not-stored';
}

/** Whether reconnecting in place cannot help, so that the next attempt waits. */
export function isLastingFault(error: unknown): boolean {
  const failure = databaseClassOf(error) ?? 'not-stored';
  return failure !== 'not-stored' && failures[failure].feed !== null;
}

/** Reconnecting may help: 25P03 and 57P05 are idle timeouts, 25006 a server turned standby. */
const lostStates: ReadonlySet<string> = new Set(
  '25P03 57P01 57P02 57P03 57P05 53300 25006'.split(' '),
);
const retryableStates: ReadonlySet<string> = new Set(['40001', '40P01', '25P03']);

/** Classes whose text repeats no value of a row. */
const openClasses: ReadonlySet<string> = new Set(
  '08 0A 21 25 26 28 2B 3D 3F 40 42 53 54 55 57 58 F0 XX'.split(' '),
);

/** In characters; the server's texts have some hundred. */
const longestText = 500;

/**
 * One line about an error of drizzle, node-postgres or Node: the server's text or the code's label, the code, and
 * table and constraint or host and port. Never the statement, a value or a password.
 */
export function describeDatabaseError(error: unknown): string {
  const root = rootOf(error);
  return describeRoot(root) + (root instanceof Error ? tlsRemedy(`${codeOf(root)} ${root}`) : '');
}

function describeRoot(root: unknown): string {
  if (root instanceof DatabaseError) return describeState(root);
  if (!(root instanceof Error)) return 'a failure without a reason';
  // A file of sslrootcert, sslcert or sslkey, which the driver opens.
  if ('syscall' in root && root.syscall === 'open') return textOf(root.message);
  const code = codeOf(root);
  const label = code === undefined ? null : systemLabel(code);
  if (label !== null) return `${label} (${code})${placeOf(root)}`;
  if (root.message === statementTimeout) {
    return 'it did not answer in time; a pooler, if there is one, may have no session left';
  }
  // drizzle's message holds the statement and its parameters.
  return isDrizzleQueryError(root) ? 'query failed' : textOf(root.message || root.name);
}

/** The same, with what to do. */
export function explainDatabaseError(error: unknown): string {
  const failure = databaseClassOf(error);
  const advice = failure === null ? '' : ` ${failures[failure].advice}`;
  return `${describeDatabaseError(error)}.${advice}`;
}

/** The SQLSTATE or system code at a failure's root; null: none. */
export function codeOfFailure(error: unknown): string | null {
  const root = rootOf(error);
  return root instanceof Error ? (codeOf(root) ?? null) : null;
}

/** Whether the server cancelled the statement, usually by its time limit. */
export const isCancelled = (error: unknown): boolean => codeOfFailure(error) === '57014';

/** Whether Postgres reported the failure, or the connection to it failed. */
export const isOfDatabase = (error: unknown): boolean =>
  rootOf(error) instanceof DatabaseError || isConnectionLost(error);

/** Whether the connection is gone or could not be made: the same work may succeed later. */
export function isConnectionLost(error: unknown): boolean {
  const root = rootOf(error);
  if (!(root instanceof Error)) return false;
  const code = codeOf(root);
  if (code === undefined) return driverLosses.has(root.message);
  // Without TLS a setting is wrong, which waiting does not cure.
  if (!(root instanceof DatabaseError)) return systemLabel(code) !== null && !isTlsError(code);
  return (lostStates.has(code) || code.startsWith('08')) && !isLostBehind(root);
}

/** Whether the database gave no connection or broke it; a full pool does not count. */
export function isAway(error: unknown): boolean {
  const root = rootOf(error);
  if (root instanceof DatabaseError && root.severity === 'FATAL') return true;
  return isConnectionLost(root) && !(root instanceof Error && root.message === queueTimeout);
}

/** A server of a cluster lost another server; if ours were gone, it would be FATAL. */
const isLostBehind = ({ severity, code }: DatabaseError): boolean =>
  severity === 'ERROR' && /^(08|57P)/.test(code ?? '');

/** The SQLSTATE that Postgres reported; otherwise empty. */
function stateOf(error: unknown): string {
  const root = rootOf(error);
  return root instanceof DatabaseError ? (root.code ?? '') : '';
}

/** Whether the transaction may run again at once. */
export const isRetryable = (error: unknown): boolean => retryableStates.has(stateOf(error));

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

const textOf = (text: string): string =>
  printable(text.length > longestText ? `${text.slice(0, longestText)}…` : text);

/** pg-boss reports errors as plain copies. */
function asError(error: unknown): unknown {
  if (error instanceof Error || typeof error !== 'object' || error === null) return error;
  if (!('message' in error) || typeof error.message !== 'string') return error;
  const { message } = error;
  const isOfServer = 'severity' in error && 'code' in error;
  return Object.assign(isOfServer ? new DatabaseError(message, 0, 'error') : new Error(message), {
    ...error,
  });
}

/** The first error of the cause chain with a code, or the innermost one. */
export function rootOf(error: unknown): unknown {
  let current = asError(error);
  // A chain has a few links; the bound guards against a cycle.
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    if (codeOf(current) !== undefined) break;
    const inner = innerOf(current);
    if (inner === undefined) break;
    current = inner;
  }
  return current;
}

function innerOf(error: Error): unknown {
  // Node tries every address of a host name and reports all failures together.
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

/** The database cannot be migrated. The message says what to do. */
export class MigrationError extends errorOf('migration') {}

export const newerDatabase =
  'The database was migrated by a newer version of explorer-etl: update this program to that version.';
