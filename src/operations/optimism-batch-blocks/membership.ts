import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { NumberedWalk, WalkEndContext } from '../operation.ts';

/**
 * Makes membership true: blocks that say they are in the batch, and which its walk did not serve
 * where it read, lose the number. Nothing is concluded from a walk with a page out of order or an
 * item in quarantine, nor of a block that a newer page has written.
 *
 * Below the lowest block that was served, that the list ended there is a claim: believed of those
 * that it would cost the number only where that block stands on a block of a lower batch. Else they
 * stay, and the batch is not settled: another walk shows whose they are.
 *
 * A block that another page writes at this moment is passed over: waiting for it could be waiting
 * for each other, and that page's own walk says at its end where the block belongs.
 */
export async function releaseBlocks(
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<void> {
  await tx.execute(sql`
    with walked as (
      select range_agg(heights) as served,
             lower(range_merge(range_agg(heights))) as lowest,
             -- Nothing is known of what stands above the page that a walk entered at.
             ((array_agg(cursor_in order by sequence))[1] ->> 'block_number')::bigint as entered_at,
             min(id) as first_page,
             bool_and(heights is not null and is_ordered and quarantined = 0) as is_conclusive
      from etl.pages
      where walk_id = ${walk.walk_id}
    ), gone as (
      select height
      from explorer.blocks as block, walked
      where is_conclusive
        and chain_id = ${walk.chain_id}
        and optimism_batch_number = ${walk.scope.batch}
        and height >= ${walk.readDownTo}
        and (entered_at is null or height < entered_at)
        and not height <@ served
        and page_id < first_page
        and (
          height > lowest
          -- One hash has one height: the other was a wrong number.
          or exists (
            select from explorer.blocks as same
            where same.hash = block.hash
              and same.chain_id = ${walk.chain_id}
              and same.height <> block.height
              and same.height <@ served
          )
          or exists (
            select from explorer.blocks as bottom
            join explorer.blocks as below
              on below.chain_id = bottom.chain_id
              and below.height = bottom.height - 1
              and below.hash = bottom.parent_hash
            where bottom.chain_id = ${walk.chain_id}
              and bottom.height = lowest
              and below.optimism_batch_number < ${walk.scope.batch}
          )
        )
      for update of block skip locked
    )
    update explorer.blocks as t
    set optimism_batch_number = null, updated_at = now(), page_id = ${walk.page_id}
    from gone
    where t.chain_id = ${walk.chain_id} and t.height = gone.height
  `);
}

/** The batch, and those that stored blocks among the ones served: they may have lost some to it. */
export async function touchedBatches(
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<number[]> {
  const { rows } = await tx.execute<{ number: number }>(sql`
    with served as (
      select coalesce(range_agg(heights), '{}') as heights
      from etl.pages
      where walk_id = ${walk.walk_id}
    )
    select ${walk.scope.batch}::float8 as number
    union
    select batch_number::float8
    from explorer.read_batches, served
    where chain_id = ${walk.chain_id}
      and blocks_count > 0
      and int8range(first_height, last_height, '[]') && heights
  `);
  return rows.map(({ number }) => number);
}
