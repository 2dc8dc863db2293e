import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** Forgets what has been read again: the walks that did so prove it as all others do. */
export async function forgetDoneRereads(db: Pick<Database, 'execute'>): Promise<void> {
  await db.execute(sql`
    delete from etl.rereads
    where not exists (
      select from etl.open_rereads as open
      where open.feed = rereads.feed
        and open.after_walk = rereads.after_walk
        and coalesce(not isempty(open.blocks), true)
    )
  `);
}
