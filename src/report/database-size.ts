import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** Bytes of the database on its disk, by the servers that it is on; of one that is spread, those of this server. */
export async function databaseSize(db: Database): Promise<number> {
  const { rows } = await db.execute<{ bytes: string }>(
    sql`select pg_database_size(current_database()) as bytes`,
  );
  return Number(rows[0]?.bytes ?? 0);
}
