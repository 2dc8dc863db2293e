import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RunRow } from './tables.ts';

/** What an open run has left to read. */
export type RunLeft =
  /** Reckoned from what was read so far. */
  | { readonly unit: 'pages'; readonly left: number }
  /** Of lists by number: how many of the numbers that it is about were read to their end. */
  | { readonly unit: 'batches'; readonly done: number; readonly total: number };

/** So many pages, reckoned; never fewer than none. */
export const aboutPages = (left: number): RunLeft => ({
  unit: 'pages',
  left: Math.max(0, left),
});

/** Pages that a run's walks have committed. */
export async function pagesOfRun(db: Database, { id }: Pick<RunRow, 'id'>): Promise<number> {
  const { rows } = await db.execute<{ pages: string }>(
    sql`select coalesce(sum(pages), 0) as pages from etl.walks where run_id = ${id}`,
  );
  return Number(rows[0]?.pages ?? 0);
}
