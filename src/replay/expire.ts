import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** Bodies deleted in one transaction: some 10 MB, so that none is long. */
const deletedAtOnce = 1_000;

/**
 * Deletes archived bodies of pages that were stored more than `days` before `at`, oldest first, in
 * batches, until none is left or the signal aborts. Only what is so old by the database's clock too:
 * one wrong clock must not delete what was paid for.
 *
 * @returns how many were deleted
 */
export async function expireArchive(
  db: Database,
  days: number | null,
  at: Date,
  signal: AbortSignal,
): Promise<number> {
  if (days === null) return 0;
  let total = 0;
  while (!signal.aborted) {
    const deleted = await deleteOldest(db, days, at);
    total += deleted;
    if (deleted < deletedAtOnce) break;
  }
  return total;
}

async function deleteOldest(db: Database, days: number, at: Date): Promise<number> {
  const { rows } = await db.execute<{ deleted: number }>(sql`
    with old as (
      select page_id from etl.raw_pages
      where stored_at < least(${at.toISOString()}::timestamptz, now()) - make_interval(days => ${days})
      order by stored_at
      limit ${deletedAtOnce}
      for update skip locked
    ), gone as (
      delete from etl.raw_pages using old
      where raw_pages.page_id = old.page_id
      returning raw_pages.page_id, octet_length(body) as freed_bytes
    ), freed as (
      select walk_id, sum(freed_bytes) as bytes, count(*) as bodies
      from gone join etl.pages on pages.id = gone.page_id
      group by walk_id
    ), noted as (
      update etl.walks set archived_bytes = archived_bytes - freed.bytes
      from freed
      where walks.id = freed.walk_id
    )
    select coalesce(sum(bodies), 0)::float8 as deleted from freed
  `);
  return rows[0]?.deleted ?? 0;
}
