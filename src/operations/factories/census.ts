import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { ItemRows, WalkContext } from '../operation.ts';

/** Notes what a page of a census saw, so that a resumed census still knows its first pages. */
export async function noteCensusPage(
  tx: Transaction,
  walk: WalkContext,
  rows: readonly ItemRows[],
): Promise<void> {
  const entries = rows.map(({ row, position }) => ({
    address_hash: row['address_hash'],
    total_accounts: row['total_accounts'],
    position,
  }));
  // A factory that moved across the cursor during the walk is met twice: the newer sight counts.
  await tx.execute(sql`
    insert into etl.census_entries (walk_id, address_hash, position, total_accounts)
    select ${walk.walk_id}::bigint, address_hash, position, total_accounts
    from json_to_recordset(${JSON.stringify(entries)}::json)
      as entry(address_hash text, position bigint, total_accounts bigint)
    on conflict (walk_id, address_hash) do update
    set position = excluded.position, total_accounts = excluded.total_accounts
  `);
}

/**
 * Publishes a finished census at once: ranks, who is missing, and a history row for each factory
 * whose count changed. Readers see the whole census or the one before it.
 */
export async function publishCensus(tx: Transaction, walk: WalkContext): Promise<void> {
  await tx.execute(sql`
    with ranked as (
      select address_hash, row_number() over (order by position) as rank
      from etl.census_entries
      where walk_id = ${walk.walk_id}
    ), seen as (
      select factory.address_hash, ranked.rank, 
             case when ranked.rank is null then coalesce(factory.missing_since, now()) end as missing_since
      from explorer.factories as factory
      left join ranked using (address_hash)
      where factory.chain_id = ${walk.chain_id}
    )
    update explorer.factories as t
    set rank = seen.rank,
        missing_since = seen.missing_since,
        updated_at = now(),
        page_id = greatest(t.page_id, ${walk.page_id}::bigint)
    from seen
    where t.chain_id = ${walk.chain_id}
      and t.address_hash = seen.address_hash
      and (t.rank, t.missing_since) is distinct from (seen.rank, seen.missing_since)
  `);
  await tx.execute(sql`
    insert into explorer.factory_history (chain_id, address_hash, observed_at, total_accounts, page_id)
    select ${walk.chain_id}::bigint, entry.address_hash, now(), entry.total_accounts, ${walk.page_id}::bigint
    from etl.census_entries as entry
    left join lateral (
      select true as found, total_accounts
      from explorer.factory_history
      where chain_id = ${walk.chain_id} and address_hash = entry.address_hash
      order by observed_at desc
      limit 1
    ) as last on true
    where entry.walk_id = ${walk.walk_id}
      and (last.found is null or last.total_accounts is distinct from entry.total_accounts)
    order by entry.address_hash
  `);
  await tx.execute(sql`delete from etl.census_entries where walk_id = ${walk.walk_id}`);
}
