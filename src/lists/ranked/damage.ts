import { sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { digestOfRow, digestSql, keyOf, tableName } from '../../db/digest.ts';
import type { Transaction } from '../../db/transaction.ts';
import { factories } from '../../operations/factories/tables.ts';
import { places } from '../damaged-places.ts';

/** A new ranking for the chains whose factories, or addresses of factories, were damaged. */
export async function rereadFactories(tx: Transaction): Promise<readonly PgTable[]> {
  await tx.execute(sql`
    with ${places}
    insert into etl.rereads (chain_id, operation, after_walk)
    select distinct chain_id, 'factories', (select coalesce(max(id), 0) from etl.walks)
    from (
      select chain_id from page where operation = 'factories'
      union all
      select chain_id from found where table_name in ('explorer.factories', 'explorer.factory_history')
      union all
      select lost.chain_id
      from lost
      join explorer.factories as t on t.chain_id = lost.chain_id and t.address_hash = lost.hash
    ) as wanted
    on conflict do nothing
  `);
  return [];
}

/** What a ranking says of a factory; it says all of it again. */
const told: Readonly<Record<string, SQL>> = {
  total_accounts: sql`null::bigint`,
  rank: sql`null::bigint`,
  missing_since: sql`null::timestamptz`,
  extra: sql`null::jsonb`,
};

/** A factory that has a history is emptied instead: the history goes with the row, and nobody tells it again. */
export async function keepFactories(tx: Transaction, changed: readonly PgTable[]): Promise<void> {
  if (!changed.includes(factories)) return;
  await tx.execute(sql`
    with changed as materialized (
      select * from explorer.factories as t
      where digest is distinct from ${sql.raw(digestOfRow(factories))}
        and exists (
          select from explorer.factory_history as history
          where history.chain_id = t.chain_id and history.address_hash = t.address_hash
        )
    ), emptied as (
      update explorer.factories as t
      set total_accounts = null, rank = null, missing_since = null, extra = null,
          digest = ${digestSql(factories, (column) => told[column] ?? sql.raw(`t."${column}"`))}
      from changed
      where t.chain_id = changed.chain_id and t.address_hash = changed.address_hash
    )
    insert into etl.damage (
      chain_id, table_name, finding, key, row, first_seen_at, first_page_id, last_page_id
    )
    select chain_id, ${tableName(factories)}, 'changed', ${keyOf(factories, 'changed')},
           to_jsonb(changed), first_seen_at, page_id, page_id
    from changed
  `);
}
