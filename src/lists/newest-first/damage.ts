import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from '../../db/transaction.ts';
import { places } from '../damaged-places.ts';

/** No list tells a higher one; what somebody wrote into a row may be anything. */
const highestBlock = Number.MAX_SAFE_INTEGER;

/** The blocks that brought damaged rows. A page without a block number may stand anywhere in the list. */
export async function rereadOperations(tx: Transaction): Promise<readonly PgTable[]> {
  await tx.execute(sql`
    with ${places}, stretch as (
      select chain_id,
             case when top is null or bottom is null then int8range(0, highest, '[]')
                  else int8range(bottom, top, '[]') end as blocks
      from page
      left join lateral (
        select max(walks.top) as highest
        from etl.walks
        where walks.chain_id = page.chain_id and walks.operation = page.operation
      ) as list on true
      where operation = 'user-operations' and coalesce(top, highest) is not null
      union all
      select chain_id,
             int8range((row ->> 'block_number')::bigint, (row ->> 'block_number')::bigint, '[]')
      from found
      where table_name = 'explorer.user_operations'
        and (row ->> 'block_number')::bigint between 0 and ${highestBlock}::bigint
      union all
      select lost.chain_id, int8range(max(block_number), max(block_number), '[]')
      from lost
      join explorer.user_operations as t
        on t.chain_id = lost.chain_id and t.address_hash = lost.hash
      where block_number is not null
      group by lost.chain_id, lost.hash
      union all
      select lost.chain_id, int8range(max(block_number), max(block_number), '[]')
      from lost
      join explorer.user_operations as t
        on t.chain_id = lost.chain_id and t.entry_point_hash = lost.hash
      where block_number is not null
      group by lost.chain_id, lost.hash
    )
    insert into etl.rereads as t (chain_id, operation, after_walk, blocks)
    select chain_id, 'user-operations', (select coalesce(max(id), 0) from etl.walks), range_agg(blocks)
    from stretch
    group by chain_id
    on conflict (chain_id, operation, after_walk) do update set blocks = t.blocks + excluded.blocks
  `);
  return [];
}
