import { sql } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { ClientBase, Pool, PoolClient, QueryConfig } from 'pg';
import type { z } from 'zod';
import { isRetryable } from './failure.ts';

export type Database = NodePgDatabase & { readonly $client: Pool };

export type Transaction = NodePgDatabase & { readonly $client: PoolClient };

/** A row to write: column name to value. */
export type Row = Readonly<Record<string, unknown>>;

export type Queryable = Pick<Transaction, 'execute'>;

/** What a row or a value is; made only where answers are checked. */
export type Shape<T> = () => z.ZodType<T>;

/** Tests and CI hold each row against its shape; else a shape is a type alone. */
// eslint-disable-next-line no-process-env -- a switch of tests, not a setting
const areChecked = process.env['EXPLORER_ETL_CHECK_ROWS'] === 'true';

/** @throws ZodError where answers are checked, if one has another shape: a column was renamed, or may be null */
function shaped<T>(shape: Shape<T>, answers: readonly unknown[]): T[] {
  const type = areChecked && answers.length > 0 ? shape() : null;
  for (const answer of answers) type?.parse(answer);
  return answers as T[];
}

type Statement = readonly [text: TemplateStringsArray, ...values: readonly unknown[]];

/** Runs a statement, the template behind it, and reads its answer: `execute(db).row(shape)`select …``. */
export function execute(db: Queryable) {
  const answer = async (...[text, ...values]: Statement) =>
    (await db.execute(sql(text, ...values))).rows;
  const rows =
    <T>(shape: Shape<T>) =>
    async (...statement: Statement) =>
      shaped(shape, await answer(...statement));
  const values =
    <T>(shape: Shape<T>) =>
    async (...statement: Statement) =>
      shaped(
        shape,
        (await answer(...statement)).map((row) => Object.values(row)[0]),
      );
  return {
    rows,
    /** The first row; null if there is none. */
    row:
      <T>(shape: Shape<T>) =>
      async (...statement: Statement) =>
        (await rows(shape)(...statement))[0] ?? null,
    /** The only row of a statement that always has one, such as an aggregate. */
    one:
      <T>(shape: Shape<T>) =>
      async (...statement: Statement) => {
        const [only] = await rows(shape)(...statement);
        if (only === undefined) throw new Error('the statement has no row');
        return only;
      },
    /** The first column of each row. */
    values,
    /** The first column of the first row; null if there is none, or it is null. */
    value:
      <T>(shape: Shape<T>) =>
      async (...statement: Statement) =>
        (await values(() => shape().nullable())(...statement))[0] ?? null,
    /** Whether there is a row. */
    has: async (...statement: Statement) => (await answer(...statement)).length > 0,
  };
}

/** Runs a statement with `$1` and the like in a session of the driver's, and gives its rows. */
export const rowsOf = async <T>(
  session: Pick<ClientBase, 'query'>,
  shape: Shape<T>,
  statement: string | QueryConfig,
  values?: unknown[],
): Promise<T[]> =>
  shaped(shape, (await session.query<Record<string, unknown>>(statement, values)).rows);

/** One of two deadlocked transactions continues and the retry waits for it: a few are enough. */
const mostAttempts = 5;

/** `inTransaction` for drizzle. */
export const transact = <T>(
  { $client: pool }: Pick<Database, '$client'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => inTransaction(pool, (session) => work(drizzle(session)));

/**
 * Runs `work` in a transaction, and again after a conflict or idle timeout (40001, 40P01, 25P03), because its
 * pages are paid for. `work` must keep nothing of a failed attempt. A failed transaction's connection is closed: it may
 * not answer a rollback.
 */
export const inTransaction = <T>(
  pool: Pool,
  work: (session: PoolClient) => Promise<T>,
): Promise<T> => throughConflicts(() => once(pool, work));

/** Does work of transactions of its own again after a conflict with others. */
export async function throughConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === mostAttempts || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(pool: Pool, work: (session: PoolClient) => Promise<T>): Promise<T> {
  const session = await pool.connect();
  let isFailed = true;
  // The server's message between two queries is the reason; the next query finds no connection.
  let reported: unknown;
  const note = (error: Error) => (reported ??= error);
  session.on('error', note);
  try {
    await session.query('begin');
    const result = await work(session);
    await session.query('commit');
    isFailed = false;
    return result;
  } catch (error) {
    throw isRetryable(reported) ? reported : error;
  } finally {
    session.off('error', note);
    session.release(isFailed);
  }
}

/** Bounds the wait for each lock; a lock_timeout of the URL takes precedence. */
export const limitLockWait = (session: PoolClient, ms: number) =>
  session.query(
    `select set_config('lock_timeout', $1, true) where current_setting('lock_timeout') = '0'`,
    [String(ms)],
  );
