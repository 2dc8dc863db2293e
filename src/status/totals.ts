import { sql } from 'drizzle-orm';
import { transact, type Database } from '../db/transaction.ts';

/**
 * Makes `etl.lane_totals` the totals of the ended walks, each of them read again. A walk that ends meanwhile
 * waits, or is counted: each lane's row is there and locked before its walks are read.
 */
export async function countTotalsAgain(db: Database): Promise<void> {
  await transact(db, async (tx) => {
    await tx.execute(sql`
      insert into etl.lane_totals
      select * from etl.walk_totals
      on conflict (feed, lane) do nothing
    `);
    await tx.execute(sql`select from etl.lane_totals order by feed, lane for no key update`);
    await tx.execute(sql`
      update etl.lane_totals as kept
      set pages = counted.pages, inserted = counted.inserted,
          archived_bytes = counted.archived_bytes, credits = counted.credits,
          spanned_items = counted.spanned_items, spanned_blocks = counted.spanned_blocks,
          proved = counted.proved, last_page_at = counted.last_page_at
      from etl.lane_totals as every
      left join etl.walk_totals as walked using (feed, lane),
      lateral (
        select coalesce(walked.pages, 0) as pages, coalesce(walked.inserted, 0) as inserted,
               coalesce(walked.archived_bytes, 0) as archived_bytes,
               coalesce(walked.credits, 0) as credits,
               coalesce(walked.spanned_items, 0) as spanned_items,
               coalesce(walked.spanned_blocks, 0) as spanned_blocks,
               coalesce(walked.proved, '{}') as proved, walked.last_page_at
      ) as counted
      where (every.feed, every.lane) = (kept.feed, kept.lane)
        and (kept.pages, kept.inserted, kept.archived_bytes, kept.credits, kept.spanned_items,
             kept.spanned_blocks, kept.proved)
          is distinct from (counted.pages, counted.inserted, counted.archived_bytes, counted.credits,
             counted.spanned_items, counted.spanned_blocks, counted.proved)
    `);
  });
}
