import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { ItemRows, WalkContext } from '../operation.ts';

/**
 * What a page says beyond its own rows: which of them came late, and which stored operations have
 * left the list.
 */
export async function noteChanges(
  tx: Transaction,
  walk: WalkContext,
  rows: readonly ItemRows[],
): Promise<void> {
  const placed = rows.filter(({ height }) => height !== null);
  const [first, last] = [placed[0], placed.at(-1)];
  if (first === undefined || last === undefined) return;
  if (walk.floor !== null) await noteLateArrivals(tx, walk, placed);
  if (walk.isConclusive) await noteRemovals(tx, walk, placed, first, last);
}

/**
 * A new row in a block that was proved complete arrived behind the head. Only walks with a floor
 * read such blocks again; a walk into unread history finds nothing but new rows.
 */
async function noteLateArrivals(
  tx: Transaction,
  walk: WalkContext,
  placed: readonly ItemRows[],
): Promise<void> {
  await tx.execute(sql`
    insert into etl.late_arrivals (chain_id, hash, block_number, timestamp, seen_at, page_id)
    select operation.chain_id, hash, block_number, timestamp, now(), page_id
    from explorer.user_operations as operation
    join etl.feed_coverage as feed
      on feed.chain_id = operation.chain_id and feed.operation = 'user-operations'
    where operation.chain_id = ${walk.chain_id}
      and hash = any(${sql.param(placed.map(({ key }) => key))}::text[])
      and page_id = ${walk.page_id}
      and first_seen_at = now()
      and block_number <@ covered
    on conflict do nothing
  `);
}

/**
 * Between a page's first and last item the list holds what the page holds: a stored operation in
 * that range which is not on the page has left the list, unless a newer page has seen it.
 */
async function noteRemovals(
  tx: Transaction,
  walk: WalkContext,
  placed: readonly ItemRows[],
  first: ItemRows,
  last: ItemRows,
): Promise<void> {
  await tx.execute(sql`
    update explorer.user_operations
    set removed_at = now(), updated_at = now(), page_id = ${walk.page_id}
    where chain_id = ${walk.chain_id}
      and (block_number, hash) < (${first.height}, ${first.key})
      and (block_number, hash) > (${last.height}, ${last.key})
      and hash <> all(${sql.param(placed.map(({ key }) => key))}::text[])
      and removed_at is null
      and page_id < ${walk.page_id}
  `);
}
