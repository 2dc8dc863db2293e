import type { Pool } from 'pg';

/** Whether the database has this program's tables and views; the views' record comes last. */
export async function isPrepared(pool: Pick<Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query<{ prepared: boolean }>(
    `select to_regclass('etl.view_migrations') is not null as prepared`,
  );
  return rows[0]?.prepared ?? false;
}
