import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { CountsByPage } from '../load/upsert.ts';
import type { NormalisedPage } from './page.ts';
import type { WalkRow } from './walk-row.ts';

/** What one page of any of the three operations costs of the key's credits (explorer-api.md). */
export const creditsPerPage = 20;

/** Writes the ledger entries of one transaction's pages. */
export async function recordPages(
  tx: Transaction,
  walk: WalkRow,
  pages: readonly NormalisedPage[],
  counts: CountsByPage,
): Promise<void> {
  const entries = pages.map((page) => ({
    id: page.page_id,
    walk_id: walk.id,
    sequence: page.sequence,
    cursor_in: page.cursor_in,
    cursor_out: page.cursor_out,
    items: page.items,
    rows: page.rows.length,
    repeats: page.repeats,
    quarantined: page.quarantined.length,
    inserted: counts.get(page.page_id)?.inserted ?? 0,
    changed: counts.get(page.page_id)?.changed ?? 0,
    top: page.top,
    bottom: page.bottom,
    is_ordered: page.isOrdered,
    bytes: page.bytes,
    body_hash: page.body_hash,
    attempts: page.attempts,
    latency_ms: page.latency_ms,
    credits: page.attempts * creditsPerPage,
    fetched_at: page.fetched_at,
  }));
  await tx.execute(sql`
    insert into etl.pages (
      id, walk_id, sequence, cursor_in, cursor_out, items, rows, repeats, quarantined, inserted,
      changed, top, bottom, is_ordered, bytes, body_hash, attempts, latency_ms, credits, fetched_at
    )
    select id, walk_id, sequence, cursor_in, cursor_out, items, rows, repeats, quarantined, inserted,
           changed, top, bottom, is_ordered, bytes, body_hash, attempts, latency_ms, credits, fetched_at
    from json_populate_recordset(null::etl.pages, ${JSON.stringify(entries)}::json)
  `);
}

/** Keeps the items that are no rows. The same item met again is the same entry. */
export async function recordQuarantined(
  tx: Transaction,
  walk: WalkRow,
  pages: readonly NormalisedPage[],
): Promise<void> {
  const entries = pages.flatMap((page) =>
    page.quarantined.map((item) => ({
      chain_id: walk.chain_id,
      operation: walk.operation,
      scope: walk.scope.batch === undefined ? {} : { batch: walk.scope.batch },
      raw: item.raw,
      raw_hash: item.raw_hash,
      reason: item.reason,
      position: item.position,
      page_id: page.page_id,
    })),
  );
  if (entries.length === 0) return;
  await tx.execute(sql`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, position, page_id)
    select chain_id, operation, scope, raw, raw_hash, reason, position, page_id
    from json_populate_recordset(null::etl.quarantine, ${JSON.stringify(entries)}::json)
    order by raw_hash
    on conflict do nothing
  `);
}
