import { sql, type SQL } from 'drizzle-orm';

/**
 * How long what is not verified rests: as long as lay between its first and its last read, so
 * that intervals double, and within these bounds. Ten minutes are what a new block awaits its update
 * for, a day keeps what is never fixed at one read a day.
 */
const shortestRest = '10 minutes';
const longestRest = '1 day';

/**
 * As SQL: whether as much time has passed since the last of some walks as lay between the first and
 * the last, in bounds; true where there were none. Walks of a clock that ran ahead are none, or all
 * would rest until it is that late.
 */
export const hasRested = (walks: SQL, at: Date) => sql`(
  select coalesce(
    max(started_at) + least(
      greatest(max(started_at) - min(started_at), ${shortestRest}::interval), ${longestRest}::interval
    ) <= ${at.toISOString()}::timestamptz,
    true
  )
  from etl.walks
  where ${walks} and started_at <= ${latestStart(at)}
)`;

/** How far the clocks of two machines that are well may lie apart. */
const clockDrift = '1 minute';

/**
 * As SQL: the latest that a walk can have begun, seen at a time. One that says later was begun by a
 * clock that ran ahead: going by it, nothing would be due until it is that late.
 */
export const latestStart = (at: Date): SQL =>
  sql`${at.toISOString()}::timestamptz + ${clockDrift}::interval`;
