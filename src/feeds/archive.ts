import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

const dayMs = 86_400_000;

/** Bodies deleted in one transaction: some 10 MB, so that none is long. */
const deletedAtOnce = 1_000;

/**
 * Deletes archived bodies of pages that were stored more than `days` before `at`, oldest first, in
 * batches, until none is left or the signal aborts.
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
  const before = new Date(at.getTime() - days * dayMs).toISOString();
  let total = 0;
  while (!signal.aborted) {
    const deleted = await deleteOldest(db, before);
    total += deleted;
    if (deleted < deletedAtOnce) break;
  }
  return total;
}

async function deleteOldest(db: Database, before: string): Promise<number> {
  const { rows } = await db.execute<{ deleted: number }>(sql`
    with old as (
      select page_id from etl.raw_pages
      where stored_at < ${before}::timestamptz
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
