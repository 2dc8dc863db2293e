import { sql, type SQL } from 'drizzle-orm';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Pool, PoolClient } from 'pg';
import { isAftermath, isRetryable } from './failure.ts';

/** The database as drizzle drives it, on a pool. */
export type Database = NodePgDatabase & { readonly $client: Pool };

/** One open transaction; what is written through it commits or rolls back whole. */
export type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0];

/**
 * How often a transaction that lost against another one is made in all. Of two that deadlock one
 * goes on, so the next attempt waits for it and no longer; more than a few mean something else.
 */
const mostAttempts = 5;

/**
 * Runs `work` in a transaction, and at once again where Postgres ends it for another one's sake
 * (40001, 40P01, 25P03): nothing of it is written then, and its pages are paid for. `work` must hold
 * nothing of an attempt that failed.
 *
 * A connection of a failed transaction is closed, whatever state it is in. drizzle's own
 * transaction never gives it back to the pool when `begin` itself fails: a pool of 12 was empty
 * for ever after connections had been cut 12 times at that moment.
 *
 * @throws what `work` throws, and what Postgres throws
 */
export async function transact<T>(
  db: Pick<Database, '$client'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(db.$client, work);
    } catch (error) {
      if (attempt === mostAttempts || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isFailed = true;
  // What the server says between two queries is the reason; the next query only finds nobody there.
  let said: unknown;
  const note = (error: Error) => (said ??= error);
  client.on('error', note);
  try {
    const result = client.pipeline
      ? await pipelined(client, work)
      : await drizzle(client).transaction(work);
    isFailed = false;
    return result;
  } catch (error) {
    throw isRetryable(said) ? said : error;
  } finally {
    client.off('error', note);
    client.release(isFailed);
  }
}

/**
 * A transaction whose begin, commit and posted statements are sent with what stands beside them: a round
 * trip wakes two processes, which takes longer than most of the statements.
 */
async function pipelined<T>(client: PoolClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
  // A transaction of drizzle's is a database on its one connection, and waits for its begin.
  const tx = drizzle(client) as unknown as Transaction;
  const posted: Posted = { last: Promise.resolve(), failure: null };
  postedBy.set(tx, posted);
  await post(tx, sql`begin`);
  const done = await work(tx).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  const end = await tx.execute('error' in done ? sql`rollback` : sql`commit`).then(
    ({ command }) => ({ command }),
    (error: unknown) => ({ error }),
  );
  await posted.last;
  if (posted.failure !== null) throw posted.failure.error;
  if ('error' in done) throw done.error;
  if ('error' in end) throw end.error;
  // Postgres answers the commit of a failed transaction as if it had been one.
  if (end.command !== 'COMMIT') throw new Error('the transaction was rolled back');
  return done.result;
}

/** Statements of a transaction that nobody waits for: they are answered in the order of sending. */
interface Posted {
  last: Promise<void>;
  failure: { readonly error: unknown } | null;
}

const postedBy = new WeakMap<Transaction, Posted>();

/** Runs a statement whose answer nobody needs; waits for it unless the transaction posts. */
export async function post(tx: Transaction, statement: SQL): Promise<void> {
  await ask(tx, statement);
}

/** What a statement will be answered, whether or not its transaction waits for it. */
export interface Asked<Row> {
  /** Pending until the transaction's end where it posts; rejected by no failure, which the transaction throws. */
  readonly rows: Promise<readonly Row[]>;
}

/**
 * Sends a statement whose answer nobody needs before the transaction's end. When this resolves it is sent,
 * and so comes before all that is sent then.
 */
export async function ask<Row extends Record<string, unknown>>(
  tx: Transaction,
  statement: SQL,
): Promise<Asked<Row>> {
  const posted = postedBy.get(tx);
  if (posted === undefined) {
    const { rows } = await tx.execute(statement);
    return { rows: Promise.resolve(rows as Row[]) };
  }
  const rows = tx.execute(statement).then(
    (answer) => answer.rows as Row[],
    (error: unknown) => {
      // One that an earlier one made fail says nothing.
      if (!isAftermath(error)) posted.failure ??= { error };
      return [];
    },
  );
  posted.last = rows.then(() => undefined);
  return { rows };
}

/**
 * Waits for what was asked side by side: for all of it, also where one fails. Else one of them might send
 * something more when the transaction is over, which would be written by itself.
 *
 * @throws what the first of them throws
 */
export async function together<T extends readonly PromiseLike<unknown>[]>(
  ...asked: T
): Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }> {
  // drizzle asks each time that somebody waits for its answer.
  const all = asked.map((answer) => Promise.resolve(answer));
  await Promise.allSettled(all);
  return Promise.all(all) as Promise<{ -readonly [At in keyof T]: Awaited<T[At]> }>;
}
