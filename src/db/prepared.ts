import type { Pool } from 'pg';

/** Whether the database has this program's tables. Commands that only look make none. */
export async function isPrepared(pool: Pick<Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query<{ prepared: boolean }>(
    `select to_regclass('etl.runs') is not null as prepared`,
  );
  return rows[0]?.prepared ?? false;
}
