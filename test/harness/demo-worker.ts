import type { Pool } from 'pg';

/** The process of the worker, once it is at work. */
export async function findWorker(pool: Pool): Promise<number | null> {
  const { rows } = await pool.query<{ pid: string }>(
    `select substring(application_name from '^explorer-etl demo worker (\\d+)') as pid
     from pg_stat_activity
     where datname = current_database() and application_name like 'explorer-etl demo worker %'`,
  );
  return rows[0] === undefined ? null : Number(rows[0].pid);
}

/** Whether a process is there. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
