import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { errorOf } from '../failure.ts';
import type { Database } from './transaction.ts';

/** A standby takes no writes and may be behind. */
export class StandbyError extends errorOf('standby') {
  constructor() {
    super(
      'this Postgres is a standby: only verify, plan, query, export, mcp, db shell and quarantine list work on it. Name the primary.',
    );
  }
}

/** @throws StandbyError */
export async function demandPrimary(pool: Pick<Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query('select where pg_is_in_recovery()');
  if (rows.length > 0) throw new StandbyError();
}

/** Whether the database has this program's tables and views; the views' record comes last. */
export async function isPrepared(pool: Pick<Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query(`select where to_regclass('etl.view_migrations') is not null`);
  return rows.length > 0;
}

/** What a database says of the work; one without tables, `nothing`: reading creates none. @throws StandbyError */
export async function readWork<T>(pool: Pool, read: (db: Database) => Promise<T>, nothing: T) {
  await demandPrimary(pool);
  return (await isPrepared(pool)) ? read(drizzle(pool)) : nothing;
}
