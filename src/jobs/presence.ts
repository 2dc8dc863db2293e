import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** What a process is there for: to work until it is stopped (`start`), or once (`sync`, `backfill`, `repair`). */
export type Post = 'start' | 'once';

/** The processes that work on a database. */
export type Workers = Readonly<Record<Post, number>>;

/**
 * The locks that show who lives: a pair of numbers, so that none of them is a job's, whose key is one number.
 * The first half of the pair is 'etlw' in ASCII.
 */
const presence = { space: 0x65_74_6c_77, post: { start: 1, once: 2 } } as const;

/**
 * Says on a session that its process lives. Postgres forgets it the moment the session ends. Said again and
 * again, because a session that was lost is opened anew; the lock is only counted up then.
 */
export const showPresence = (post: Post): string =>
  `select pg_try_advisory_lock_shared(${presence.space}, ${presence.post[post]})`;

/** Who works now. Only the primary sees it. */
export async function presentWorkers(db: Pick<Database, 'execute'>): Promise<Workers> {
  const { rows } = await db.execute<Workers & Record<string, unknown>>(sql`
    select count(*) filter (where objid = ${presence.post.start})::int as start,
           count(*) filter (where objid = ${presence.post.once})::int as once
    from pg_locks
    where locktype = 'advisory' and granted and objsubid = 2 and classid = ${presence.space}
      and database = (select oid from pg_database where datname = current_database())
  `);
  return { start: rows[0]?.start ?? 0, once: rows[0]?.once ?? 0 };
}
