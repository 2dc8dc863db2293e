import type { Pool } from 'pg';
import { hangMs } from './hang.ts';
import { eventually } from './process.ts';

/** Waits until so many sessions of the database wait for a lock. */
export async function untilLocked(pool: Pool, sessions = 1): Promise<void> {
  await eventually(`${sessions} sessions that wait for a lock`, hangMs, async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === sessions;
  });
}
