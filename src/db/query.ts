import type { SQL } from 'drizzle-orm';
import type { Transaction } from './transaction.ts';

export type Queryable = Pick<Transaction, 'execute'>;

export async function hasRows(db: Queryable, statement: SQL): Promise<boolean> {
  return (await db.execute(statement)).rows.length > 0;
}

/** The first column of the first row; null if there is none. */
export async function valueOf<T>(db: Queryable, statement: SQL): Promise<T | null> {
  const [row] = (await db.execute<Record<string, T | null>>(statement)).rows;
  return row === undefined ? null : (Object.values(row)[0] ?? null);
}
