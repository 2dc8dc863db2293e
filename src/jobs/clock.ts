import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { sliceQueue, tickQueue } from './boss.ts';

/** Where pg-boss's scheduler keeps what it has sent. */
const sentQueue = '__pgboss__send-it';

/** Two transactions may begin in one order and commit in the other, but not so far apart. */
const slack = '1 second';

/**
 * Brings the queue back to the present after the database's clock was set back: jobs that wait were
 * due when it comes there again, the scheduler's last pass lies ahead, so that it makes none until
 * then, and what it sent keeps it from sending the same minutes again. A job that was made in the
 * future is due as long after now as it was after its making. Where no clock was set back it only
 * reads.
 */
export async function returnToPresent(db: Database): Promise<void> {
  await db.execute(sql`
    with ahead as (
      select pgboss.job_now() as present, pgboss.job_now() + ${slack}::interval as future
    ), job as (
      update pgboss.job
      set start_after = case
            when state = 'retry' then present
            else start_after - (created_on - present)
          end,
          created_on = least(created_on, present)
      from ahead
      where name in (${sliceQueue}, ${tickQueue}, ${sentQueue})
        and (state = 'created' and created_on > future or state = 'retry' and start_after > future)
    ), sent as (
      delete from pgboss.job
      using ahead
      where name = ${sentQueue} and state = 'completed' and created_on > future
    )
    update pgboss.version set cron_on = present from ahead where cron_on > future
  `);
}
