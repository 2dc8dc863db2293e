import type { Pool } from 'pg';
import { errorOf } from '../failure.ts';

/** A write reached a standby. */
export class StandbyError extends errorOf('standby') {
  constructor() {
    super(
      'this Postgres is a standby: it takes no writes, only status, verify, plan, query, export, db shell and quarantine list work on it. Name the primary.',
    );
  }
}

export interface Standby {
  /** In seconds behind the primary; null: unknown. */
  readonly behind_s: number | null;
}

/**
 * The lag of a standby; null on a primary. A connected standby that has replayed all it received is not behind,
 * however long nothing was written.
 */
export async function readStandby(pool: Pool): Promise<Standby | null> {
  const { rows } = await pool.query<{ is_standby: boolean; behind_s: number | null }>(`
    select pg_is_in_recovery() as is_standby,
           case
             when not pg_is_in_recovery() then null
             when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
               and exists (select from pg_stat_wal_receiver where pid is not null) then 0
             else round(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()))::float8
           end as behind_s
  `);
  const [found] = rows;
  return found?.is_standby === true ? { behind_s: found.behind_s } : null;
}

/** Whether the database has this program's tables and views; the views' record comes last. */
export async function isPrepared(pool: Pick<Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query(`select where to_regclass('etl.view_migrations') is not null`);
  return rows.length > 0;
}
