import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { NumberedWalk, WalkEndContext } from '../operation.ts';

/**
 * Notes where a walk has seen its batch's list begin and end. What is stored may come of another walk,
 * or be a block that has moved since: a batch is settled only where its blocks begin and end as its
 * list was last seen to. A walk with a page out of order or an item in quarantine has seen nothing,
 * and neither has one that entered at the list's last page and was served no block there.
 *
 * What the lowest block stands on is seen with it: below the lowest batch nobody contradicts a wrong
 * parent hash but another read.
 */
export async function noteObservation(
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<void> {
  const readsEnd = sql`${walk.readDownTo === 0}`;
  await tx.execute(sql`
    with walked as (
      select range_agg(heights) as served,
             (array_agg(cursor_in order by sequence))[1] is null as from_head,
             bool_and(
               is_ordered
               -- What was in quarantine and can be read now was served too.
               and coalesce(
                 (select sum(upper(range) - lower(range)) from unnest(heights) as range), 0
               ) >= items - repeats
             ) as is_orderly
      from etl.pages
      where walk_id = ${walk.walk_id}
    ), seen as (
      select upper(range_merge(served)) - 1 as top, lower(range_merge(served)) as bottom, from_head,
             is_orderly and (from_head or not isempty(served)) as is_conclusive,
             (
               select parent_hash from explorer.blocks
               where chain_id = ${walk.chain_id} and height = lower(range_merge(served))
             ) as parent_hash
      from walked
    )
    insert into etl.batch_observations as t (
      chain_id, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
    )
    select ${walk.chain_id}::bigint, ${walk.scope.batch}::bigint,
           case when is_conclusive and from_head then top end,
           case when is_conclusive and ${readsEnd} then bottom end,
           case when is_conclusive and ${readsEnd} then parent_hash end,
           case when is_conclusive and ${readsEnd} then 1 else 0 end,
           ${walk.walk_id}::bigint, ${walk.run_id}::bigint
    from seen
    on conflict (chain_id, batch_number) do update
    set top = case
          when excluded.top is not null then excluded.top
          -- A walk of the last page alone has not seen where the list begins.
          when (select is_conclusive and not from_head from seen) then t.top
        end,
        bottom = case
          when ${readsEnd} or (select not is_conclusive from seen) then excluded.bottom
          else t.bottom
        end,
        parent_hash = case
          when ${readsEnd} or (select not is_conclusive from seen) then excluded.parent_hash
          else t.parent_hash
        end,
        times_seen = case
          when (select not is_conclusive from seen) then 0
          when not ${readsEnd} then t.times_seen
          when t.walk_id = excluded.walk_id then greatest(t.times_seen, 1)
          when t.times_seen > 0
            and (t.bottom, t.parent_hash) is not distinct from (excluded.bottom, excluded.parent_hash)
            then t.times_seen + 1
          else 1
        end,
        walk_id = excluded.walk_id,
        run_id = case
          when ${readsEnd} and (select is_conclusive from seen) then excluded.run_id
          else t.run_id
        end
  `);
}
