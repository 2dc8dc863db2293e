import { on } from 'node:events';
import type { Readable } from 'node:stream';
import { Query, type Pool, type PoolClient, type QueryArrayResult } from 'pg';
import { explainFailure, StatementError } from './failure.ts';

/** A statement with the values of its `$1`, `$2`, …, as text; null is null. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** How much a statement may take. */
export interface Bounds {
  /** How long the server may work on it, in ms; 0 for ever. */
  readonly timeoutMs: number;
  /** Rows at most; null for all. */
  readonly limit: number | null;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** A column of an answer. */
export interface Column {
  readonly name: string;
  /** Its type's oid. */
  readonly type: number;
}

/** Values as Postgres writes them: no digit is lost. */
export type Row = readonly (string | null)[];

/** Some rows of an answer, in order. Every answer has one piece at least, if only for its columns. */
export interface Piece {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Whether the limit leaves out the rows behind these. */
  readonly isCut: boolean;
}

/** So many rows wait while others are written. */
const waitingRows = 200;
/** So many are handed over at once, or fewer where they are this long together, in characters. */
const batchRows = 1_000;
const batchCharacters = 1_000_000;

/**
 * Reads the answer to one statement in a transaction that is read only and rolled back, with as much
 * memory as some thousand rows take. Times are in UTC. More is read as pieces are taken.
 *
 * It is a guard against slips. A superuser's rights are put off, so that functions which end sessions,
 * write files or read them are refused; but a statement that sets out to get them back can. People who are
 * not trusted get a role of their own (docs/operating.md).
 *
 * @throws StatementError if the statement does not read, StatementTimeoutError, `signal.reason` if
 *   that is aborted, and what Postgres throws
 */
export async function* readAnswer(
  pool: Pool,
  statement: Statement,
  { timeoutMs, limit, signal }: Bounds,
): AsyncGenerator<Piece> {
  demandReading(statement.text);
  const session = await unlessAborted(pool.connect(), signal, (late) => late.release(true));
  let isDone = false;
  try {
    const pid = await unlessAborted(beginReading(session, timeoutMs), signal);
    const cancel = () =>
      void pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      const isCut = yield* readRows(session, statement, limit);
      if (!isCut) await session.query('rollback');
      isDone = !isCut;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw explainFailure(error, statement.text, timeoutMs);
  } finally {
    // Closing the session ends what it was in the middle of.
    session.release(!isDone);
  }
}

/** All rows of an answer that is small, however long it takes. */
export async function readAll(
  pool: Pool,
  statement: Statement,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  const bounds = { timeoutMs: 0, limit: null, signal };
  for await (const { rows } of readAnswer(pool, statement, bounds)) all.push(...rows);
  return all;
}

/**
 * Waits for a promise, or until the signal aborts: a silent server never answers. `discard` takes
 * what comes after that.
 *
 * @throws `signal.reason` where it aborts first
 */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  discard: (late: T) => void = () => undefined,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, aborted.promise]);
  } catch (error) {
    if (signal.aborted) promise.then(discard, () => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Begins the transaction and gives the process of its session. */
async function beginReading(session: PoolClient, timeoutMs: number): Promise<number> {
  await session.query('begin transaction read only');
  // It is a query too: after one, "set transaction read write" is refused.
  const { rows } = await session.query<{ pid: number }>(
    `select pg_backend_pid() as pid,
            set_config('statement_timeout', $1, true),
            set_config('timezone', 'UTC', true),
            set_config('datestyle', 'ISO, YMD', true),
            set_config('intervalstyle', 'postgres', true),
            set_config('bytea_output', 'hex', true)`,
    [String(timeoutMs)],
  );
  // Citus logs in to its other servers as the role that is set, which can't log in. Policies would leave
  // out rows that a superuser sees: better an error than fewer rows.
  await session.query(
    `select set_config('row_security', 'off', true), set_config('role', 'pg_read_all_data', true)
     from pg_roles
     where rolname = current_user and rolsuper
       and not exists (select from pg_extension where extname = 'citus')`,
  );
  return rows[0]?.pid ?? 0;
}

/**
 * A cursor would keep Postgres from answering with parallel workers, so all rows are requested at once,
 * and the socket rests while enough of them wait.
 *
 * @returns whether the limit left out rows
 */
async function* readRows(
  session: PoolClient,
  { text, values }: Statement,
  limit: number | null,
): AsyncGenerator<Piece, boolean> {
  const query = new Query({
    text,
    values: [...values],
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
    // With it the server accepts one statement only.
    queryMode: 'extended',
  } as ConstructorParameters<typeof Query>[0]);
  // The iteration throws it; this one is for what comes after its end.
  query.on('error', () => {});
  const socket = socketOf(session);
  const source = Object.assign(query, {
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  });
  let columns: readonly Column[] = [];
  query.once('end', (result: Result) => (columns = columnsOf(result)));
  const events = on(source, 'row', {
    close: ['end'],
    highWaterMark: waitingRows,
    lowWaterMark: waitingRows / 2,
  });
  session.query(query);
  let [rows, characters, read, isCut] = [[] as Row[], 0, 0, false];
  for await (const event of events) {
    const [row, result] = event as [Row, Result];
    if (read === 0) columns = columnsOf(result);
    isCut = read === limit;
    if (isCut) break;
    read += 1;
    rows.push(row);
    characters += row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
    if (rows.length < batchRows && characters < batchCharacters) continue;
    yield { columns, rows, isCut };
    [rows, characters] = [[], 0];
  }
  // The iteration leaves it at rest if the end came while rows were waiting.
  socket.resume();
  yield { columns, rows, isCut };
  return isCut;
}

type Result = Pick<QueryArrayResult, 'fields'>;

const columnsOf = ({ fields }: Result): Column[] =>
  fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));

/** node-postgres has it public, but not in its types. */
const socketOf = (session: PoolClient) =>
  Reflect.get(Object(Reflect.get(session, 'connection')), 'stream') as Readable;

/** What only reads. `copy … to program` runs programs even in a transaction that is read only. */
const readingWords: readonly string[] = ['select', 'with', 'values', 'table', 'explain', 'show'];

/**
 * Refuses what is not a statement that reads. The rest is the server's to refuse: the transaction is read
 * only, and takes one statement.
 *
 * @throws StatementError
 */
function demandReading(text: string): void {
  const word = firstWord(text);
  if (word === '') throw new StatementError('there is no statement.');
  if (readingWords.includes(word)) return;
  throw new StatementError(
    `query only reads: a statement begins with ${readingWords.join(', ')}, this one with "${word}". For the rest there is psql.`,
    { command: 'explorer-etl db shell' },
  );
}

/** The first word behind blanks, comments and parentheses, in lower case; what is no word as it is. */
function firstWord(text: string): string {
  let rest = text;
  for (;;) {
    const trimmed = rest.replace(/^[\s(;]+/u, '').replace(/^--[^\n]*/u, '');
    const next = trimmed.startsWith('/*') ? trimmed.slice(commentLength(trimmed)) : trimmed;
    if (next === rest) break;
    rest = next;
  }
  return (/^\w+/u.exec(rest)?.[0] ?? rest.slice(0, 1)).toLowerCase();
}

/** Comments of Postgres nest; one that does not end is as long as the text. */
function commentLength(text: string): number {
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//gu)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return index + mark.length;
  }
  return text.length;
}
