import { sql } from 'drizzle-orm';
import { events } from '../db/tables.ts';
import type { Database } from '../db/transaction.ts';

/** How long events are kept; as SQL. */
const keptFor = sql`interval '31 days'`;

/**
 * Notes for the timeline what happened beside the runs. A database that is away notes nothing: the log has the
 * event too.
 */
export async function noteEvent(
  db: Database,
  event: Pick<typeof events.$inferInsert, 'kind' | 'sentence'>,
): Promise<void> {
  await db
    .insert(events)
    .values(event)
    .catch(() => undefined);
}

/** Deletes the oldest events. */
export async function expireEvents(db: Pick<Database, 'execute'>): Promise<void> {
  await db.execute(sql`delete from etl.events where at < now() - ${keptFor}`);
}
