import { sql, type SQL } from 'drizzle-orm';

/** How far the clocks of two machines that are well may lie apart. */
const clockDrift = '1 minute';

/**
 * As SQL: the latest that a walk can have begun, seen at a time. One that says later was begun by a
 * clock that ran ahead: going by it, nothing would be due until it is that late.
 */
export const latestStart = (at: Date): SQL =>
  sql`${at.toISOString()}::timestamptz + ${clockDrift}::interval`;
