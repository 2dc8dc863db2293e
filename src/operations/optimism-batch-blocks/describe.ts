import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { NumberedWalk, WalkEndContext } from '../operation.ts';

/**
 * Says of batches what their blocks are: how many, from where to where, whether their heights are
 * contiguous and each block's parent is the block below it. What the neighbours prove is not judged
 * here. A probe that finds nothing leaves no row: that there is no batch yet says nothing for good.
 */
export async function describeBatches(
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
  batches: readonly number[],
): Promise<void> {
  await tx.execute(sql`
    with members as (
      select optimism_batch_number as batch_number, height, parent_hash,
             lag(hash) over (partition by optimism_batch_number order by height) as hash_below
      from explorer.blocks
      where chain_id = ${walk.chain_id}
        and optimism_batch_number = any(${sql.param(batches)}::bigint[])
    ), summary as (
      select number as batch_number,
             count(height) as blocks_count,
             min(height) as first_height,
             max(height) as last_height,
             max(height) - min(height) + 1 = count(height) as is_contiguous,
             bool_and(hash_below is null or parent_hash is not distinct from hash_below)
               filter (where height is not null) as is_linked
      from unnest(${sql.param(batches)}::bigint[]) as number
      left join members on members.batch_number = number
      group by number
    )
    insert into explorer.read_batches as t (
      chain_id, batch_number, state, blocks_count, first_height, last_height,
      is_contiguous, is_linked, is_proved, walked_at, page_id
    )
    select ${walk.chain_id}::bigint, batch_number,
           case when blocks_count = 0 then 'empty' else 'open' end,
           blocks_count, first_height, last_height, is_contiguous, is_linked, false,
           now(), ${walk.page_id}::bigint
    from summary
    where blocks_count > 0
      or not ${walk.scope.probe ?? false}
      or exists (
        select from explorer.read_batches as known
        where known.chain_id = ${walk.chain_id} and known.batch_number = summary.batch_number
      )
    order by batch_number
    on conflict (chain_id, batch_number) do update
    set state = case
          when excluded.blocks_count = 0 then 'empty'
          when t.blocks_count = 0 then 'open'
          else t.state
        end,
        is_proved = t.is_proved and (t.blocks_count = 0) = (excluded.blocks_count = 0),
        blocks_count = excluded.blocks_count,
        first_height = excluded.first_height,
        last_height = excluded.last_height,
        is_contiguous = excluded.is_contiguous,
        is_linked = excluded.is_linked,
        walked_at = excluded.walked_at,
        updated_at = now(),
        page_id = greatest(t.page_id, excluded.page_id)
    where (t.blocks_count, t.first_height, t.last_height, t.is_contiguous, t.is_linked)
          is distinct from
          (excluded.blocks_count, excluded.first_height, excluded.last_height,
           excluded.is_contiguous, excluded.is_linked)
  `);
}
