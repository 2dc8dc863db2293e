import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FeedLane } from '../feeds/feed.ts';
import { sliceQueue } from './boss.ts';

/** Who attends to a lane's job: a worker that lives, nobody yet, or nobody until a time. */
export interface Attendance {
  readonly lane: FeedLane;
  /** `held`: a living worker's session has its lock. */
  readonly is: 'held' | 'queued' | 'resting' | 'lost';
  /** ISO 8601; of a resting one, when it is due. */
  readonly until: string | null;
  /** Since it was queued, or taken up, in seconds. */
  readonly age_s: number;
}

/**
 * Every lane's unfinished job. A job whose worker was killed is still `active` in the queue, but no
 * session holds its lock: it is lost until somebody takes it over. Empty where no queue was made yet.
 */
export async function attendances(db: Pick<Database, 'execute'>): Promise<Attendance[]> {
  const { rows: found } = await db.execute<{ is_there: boolean }>(
    sql`select to_regclass('pgboss.job') is not null as is_there`,
  );
  if (found[0]?.is_there !== true) return [];
  const { rows } = await db.execute<{ attendance: Attendance }>(sql`
    with locked as (
      select (classid::bigint << 32) | objid::bigint as key
      from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
    )
    select json_build_object(
      'lane', data,
      'is', case
        when state = 'active' and hashtextextended(id::text, 0) in (select key from locked) then 'held'
        when state = 'active' then 'lost'
        when start_after > now() then 'resting'
        else 'queued'
      end,
      'until', case when state <> 'active' and start_after > now() then start_after end,
      'age_s', extract(epoch from now() - case when state = 'active' then started_on else created_on end)
    ) as attendance
    from pgboss.job
    where name = ${sliceQueue} and state in ('created', 'retry', 'active')
  `);
  return rows.map(({ attendance }) => attendance);
}
