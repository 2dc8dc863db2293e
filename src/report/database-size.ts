import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** Bytes of the database on its disk; of one that is spread, those of this server. Null: it may not be read. */
export async function databaseSize(db: Database): Promise<number | null> {
  const asked = db.execute<{ bytes: string }>(
    sql`select pg_database_size(current_database()) as bytes`,
  );
  // What a panel can do without takes nothing else with it.
  const rows = await asked.then((answer) => answer.rows).catch(() => []);
  return rows[0] === undefined ? null : Number(rows[0].bytes);
}
