import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { WalkContext } from '../operation.ts';

/**
 * Says of a batch that was walked to its end what its blocks prove: whether the heights are
 * contiguous and whether each block's parent is the block below it in the batch.
 */
export async function describeBatch(tx: Transaction, walk: WalkContext): Promise<void> {
  await tx.execute(sql`
    with members as (
      select height, parent_hash, lag(hash) over (order by height) as hash_below
      from explorer.blocks
      where chain_id = ${walk.chain_id} and optimism_batch_number = ${walk.scope.batch}
    ), summary as (
      select count(*) as blocks_count,
             min(height) as first_height,
             max(height) as last_height,
             max(height) - min(height) + 1 = count(*) as is_contiguous,
             bool_and(hash_below is null or parent_hash is not distinct from hash_below) as is_linked
      from members
    )
    insert into explorer.optimism_batches as t (
      chain_id, batch_number, state, blocks_count, first_height, last_height,
      is_contiguous, is_linked, walked_at, page_id
    )
    select ${walk.chain_id}::bigint, ${walk.scope.batch}::bigint,
           case when blocks_count = 0 then 'empty' else 'open' end,
           blocks_count, first_height, last_height, is_contiguous, is_linked,
           now(), ${walk.page_id}::bigint
    from summary
    where blocks_count > 0 or not ${walk.scope.probe ?? false}
    on conflict (chain_id, batch_number) do update
    set state = excluded.state,
        blocks_count = excluded.blocks_count,
        first_height = excluded.first_height,
        last_height = excluded.last_height,
        is_contiguous = excluded.is_contiguous,
        is_linked = excluded.is_linked,
        walked_at = excluded.walked_at,
        updated_at = excluded.updated_at,
        page_id = excluded.page_id
    where t.page_id < excluded.page_id
      and (t.state, t.blocks_count, t.first_height, t.last_height, t.is_contiguous, t.is_linked)
          is distinct from
          (excluded.state, excluded.blocks_count, excluded.first_height, excluded.last_height,
           excluded.is_contiguous, excluded.is_linked)
  `);
}
