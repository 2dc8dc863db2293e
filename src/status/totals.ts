import { sql } from 'drizzle-orm';
import { transact, type Database } from '../db/transaction.ts';

/**
 * Makes `etl.coverage` what the ledger says, each walk and page of it read again. No page is committed between
 * the reading and the writing.
 */
export async function recountCoverage(db: Database): Promise<void> {
  await transact(db, async (tx) => {
    // A commit locks its walk first and the coverage last. Rows that are missing could not be locked.
    await tx.execute(sql`lock table etl.coverage in share row exclusive mode`);
    await tx.execute(sql`
      delete from etl.coverage as kept
      where not exists (
        select from etl.ledger_coverage as walked
        where (walked.feed, walked.lane) = (kept.feed, kept.lane)
      )
    `);
    await tx.execute(sql`
      insert into etl.coverage as kept (
        feed, lane, verified, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks,
        last_page_at
      )
      select feed, lane, verified, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks,
             last_page_at
      from etl.ledger_coverage
      on conflict (feed, lane) do update
      set verified = excluded.verified, pages = excluded.pages, inserted = excluded.inserted,
          archived_bytes = excluded.archived_bytes, credits = excluded.credits,
          spanned_items = excluded.spanned_items, spanned_blocks = excluded.spanned_blocks
      where (kept.verified, kept.pages, kept.inserted, kept.archived_bytes, kept.credits,
             kept.spanned_items, kept.spanned_blocks)
        is distinct from (excluded.verified, excluded.pages, excluded.inserted, excluded.archived_bytes,
             excluded.credits, excluded.spanned_items, excluded.spanned_blocks)
    `);
  });
}
