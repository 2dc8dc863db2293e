import { on } from 'node:events';
import type { Readable } from 'node:stream';
import { Query, type Pool, type PoolClient, type QueryArrayResult } from 'pg';
import { explainFailure, StatementError } from './failure.ts';
import { z } from 'zod';
import { rowsOf } from '../db/transaction.ts';

/** A statement with text values of `$1`, `$2`, …; null is null. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

export interface Bounds {
  /** Time limit of the server, in ms; 0: none. */
  readonly timeoutMs: number;
  /** Maximum of rows; null: all. */
  readonly limit: number | null;
  readonly signal: AbortSignal;
}

export interface Column {
  readonly name: string;
  /** The type's oid. */
  readonly type: number;
  /** Of `numeric`: whether it is declared without fractions, as amounts in tables are; a sum is not. */
  readonly isWhole: boolean;
}

/** Values as Postgres writes them, with all digits. */
export type TextRow = readonly (string | null)[];

/** Some rows of an answer, in order. Every answer has at least one piece, for its columns. */
export interface Piece {
  readonly columns: readonly Column[];
  readonly rows: readonly TextRow[];
  /** Whether the limit cuts off the rows after these. */
  readonly isCut: boolean;
}

/** Rows that wait while others are written. */
const waitingRows = 200;
/** Maximum size of a piece, in rows and in characters. */
const batchRows = 1_000;
const batchCharacters = 1_000_000;

/**
 * Reads one statement's answer in a read-only transaction that is rolled back, with times in UTC, a piece at a time:
 * memory for some thousand rows is enough.
 *
 * It protects against mistakes only. It drops a superuser's rights, which refuses functions that end sessions or use
 * files, but a statement can get them back. Untrusted people need their own role (docs/operating.md).
 * @throws StatementError for a statement that does not read, StatementTimeoutError, the reason of an aborted
 *   `signal`, and errors of Postgres
 */
export async function* readAnswer(
  pool: Pool,
  statement: Statement,
  { timeoutMs, limit, signal }: Bounds,
): AsyncGenerator<Piece> {
  demandReading(statement.text);
  signal.throwIfAborted();
  // A silent server never answers, so nothing waits for it alone.
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  let pid: number | null = null;
  const abort = () => {
    aborted.reject(signal.reason as Error);
    if (pid !== null) pool.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined);
  };
  signal.addEventListener('abort', abort, { once: true });
  const connecting = pool.connect();
  let isDone = false;
  try {
    const session = await Promise.race([connecting, aborted.promise]);
    pid = await Promise.race([beginReading(session, timeoutMs), aborted.promise]);
    const isCut = yield* readRows(session, statement, limit);
    if (!isCut) await session.query('rollback');
    isDone = !isCut;
  } catch (error) {
    signal.throwIfAborted();
    throw explainFailure(error, statement.text, timeoutMs);
  } finally {
    signal.removeEventListener('abort', abort);
    // A closed session ends its unfinished statement.
    connecting.then(
      (session) => session.release(!isDone),
      () => undefined,
    );
  }
}

/** Reads an answer into memory, of each row what `keep` returns. @throws as `readAnswer` */
export async function readWhole(
  pool: Pool,
  statement: Statement,
  bounds: Bounds,
  keep = (row: TextRow) => row,
): Promise<Piece> {
  const rows: TextRow[] = [];
  let last: Piece = { columns: [], rows, isCut: false };
  for await (last of readAnswer(pool, statement, bounds)) rows.push(...last.rows.map(keep));
  return { ...last, rows };
}

/** Begins the transaction. @returns the process id of its session */
async function beginReading(session: PoolClient, timeoutMs: number): Promise<number> {
  await session.query('begin transaction read only');
  // This query makes Postgres refuse a later "set transaction read write".
  const rows = await rowsOf(
    session,
    () => z.object({ pid: z.number() }),
    `select pg_backend_pid() as pid,
            set_config('statement_timeout', $1, true),
            set_config('timezone', 'UTC', true),
            set_config('datestyle', 'ISO, YMD', true),
            set_config('intervalstyle', 'postgres', true),
            set_config('bytea_output', 'hex', true)`,
    [String(timeoutMs)],
  );
  // Citus logs in to other servers as the set role, which can't log in. Policies would hide rows
  // that a superuser sees: better an error than fewer rows.
  await session.query(
    `select set_config('row_security', 'off', true), set_config('role', 'pg_read_all_data', true)
     from pg_roles
     where rolname = current_user and rolsuper
       and not exists (select from pg_extension where extname = 'citus')`,
  );
  return rows[0]?.pid ?? 0;
}

/**
 * Requests all rows at once, because a cursor prevents parallel workers, and pauses the socket while enough wait.
 * @returns whether the limit cut off rows
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
    // The server then accepts only one statement.
    queryMode: 'extended',
  } as ConstructorParameters<typeof Query>[0]);
  // The iteration throws errors; this handles those after its end.
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
  let [rows, characters, read, isCut] = [[] as TextRow[], 0, 0, false];
  for await (const event of events) {
    const [row, result] = event as [TextRow, Result];
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
  // The iteration leaves the socket paused if rows were waiting at its end.
  socket.resume();
  yield { columns, rows, isCut };
  return isCut;
}

type Result = Pick<QueryArrayResult, 'fields'>;

const columnsOf = ({ fields }: Result): Column[] =>
  fields.map(({ name, dataTypeID, dataTypeModifier: modifier }) => ({
    name,
    type: dataTypeID,
    // 4 above precision << 16 | scale; -1: none is declared.
    isWhole: modifier >= 4 && ((modifier - 4) & 0x7_ff) === 0,
  }));

/** Public in node-postgres, but absent from its types. */
const socketOf = (session: PoolClient) =>
  Reflect.get(Object(Reflect.get(session, 'connection')), 'stream') as Readable;

/** Reading statements only: `copy … to program` runs programs even in a read-only transaction. */
const readingWords: readonly string[] = ['select', 'with', 'values', 'table', 'explain', 'show'];

/** Blanks, comments and parentheses before a statement. Comments in comments are refused with it. */
const lead = /^(?:[\s(;]|--[^\n]*|\/\*(?:(?!\/\*|\*\/)[^])*\*\/)*/u;

/** Refuses statements that do not read; the transaction refuses the rest. @throws StatementError */
function demandReading(text: string): void {
  const [word = ''] = /^\w+|^./u.exec(text.replace(lead, '').toLowerCase()) ?? [];
  if (word === '') throw new StatementError('there is no statement.');
  if (readingWords.includes(word)) return;
  throw new StatementError(
    `query only reads: a statement begins with ${readingWords.join(', ')}, this one with "${word}". Use db shell for it.`,
    { command: 'explorer-etl db shell' },
  );
}
