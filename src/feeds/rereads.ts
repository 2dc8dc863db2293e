import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';

/**
 * What was found just now, the addresses among it, and the pages that brought the rows of those
 * moments, each with its walk. As common table expressions.
 */
const places = sql`
  found as materialized (
    select * from etl.damage where found_at = now()
  ), lost as materialized (
    select distinct chain_id, coalesce(key ->> 'hash', key ->> 'address_hash') as hash
    from found
    where table_name like 'explorer.address%' and key is not null
  ), told as (
    select first_page_id, last_page_id from found where first_page_id is not null
    union
    select noted.first_page_id, noted.last_page_id
    from found
    join etl.row_counts as noted using (chain_id, table_name, first_seen_at)
    where noted.first_page_id is not null
  ), page as materialized (
    select distinct pages.id, walks.chain_id, walks.operation, walks.batch, pages.top, pages.bottom
    from told
    join etl.pages as edge on edge.id in (first_page_id, last_page_id)
    join etl.pages
      on pages.walk_id = edge.walk_id and pages.id between first_page_id and last_page_id
    join etl.walks on walks.id = pages.walk_id
    where pages.rows > 0
  )
`;

/** Forgets what has been read again: the walks that did so prove it as all others do. */
export async function forgetDoneRereads(db: Pick<Database, 'execute'>): Promise<void> {
  await db.execute(sql`
    delete from etl.rereads
    where not exists (
      select from etl.open_rereads as open
      where open.chain_id = rereads.chain_id
        and open.operation = rereads.operation
        and open.after_walk = rereads.after_walk
        and coalesce(not isempty(open.blocks), true)
    )
  `);
}

/** No list tells a higher one; what somebody wrote into a row may be anything. */
const highestBlock = Number.MAX_SAFE_INTEGER;

/** The blocks that brought damaged rows. A page without a block number may stand anywhere in the list. */
export async function rereadOperations(tx: Transaction): Promise<void> {
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
}

/** A census of the chains whose factories, or addresses of factories, were damaged. */
export async function rereadFactories(tx: Transaction): Promise<void> {
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
}

/** A batch that is not stored is not read: it is asked for again, and read whole. */
export async function forgetBatches(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    with ${places}, height as (
      select chain_id, coalesce(key ->> 'height', key ->> 'block_height')::bigint as height
      from found
      where table_name like 'explorer.block%' and key is not null
      union
      select lost.chain_id, max(t.height)
      from lost
      join explorer.blocks as t on t.chain_id = lost.chain_id and t.miner_hash = lost.hash
      where optimism_batch_number is not null
      group by lost.chain_id, lost.hash
    ), wanted as (
      select chain_id, batch as number from page where operation = 'optimism-batch-blocks'
      union
      select chain_id, (row ->> 'optimism_batch_number')::bigint
      from found where table_name = 'explorer.blocks'
      union
      select batch.chain_id, batch.batch_number
      from height
      join explorer.optimism_batches as batch
        on batch.chain_id = height.chain_id
        and blocks_count > 0
        and int8range(first_height, last_height, '[]') @> height
      union
      select batch.chain_id, batch.batch_number
      from found
      join explorer.optimism_batches as batch using (chain_id, first_seen_at)
      where table_name = 'explorer.optimism_batches'
    )
    delete from explorer.optimism_batches as batch
    using wanted
    where batch.chain_id = wanted.chain_id and batch.batch_number = wanted.number
  `);
  await tx.execute(sql`
    delete from explorer.optimism_batches as batch
    using etl.block_findings as finding
    where finding.chain_id = batch.chain_id and batch_number <@ numbers
  `);
}
