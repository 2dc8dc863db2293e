import { sql } from 'drizzle-orm';
import { assign, tallied, tally } from '../../db/digest.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { WalkEndContext } from '../operation.ts';
import { blocks } from './tables.ts';

/**
 * Makes membership true: blocks that say they are in the batch, and which its walk did not serve
 * where it read, lose the number. Nothing is concluded from a walk with a page out of order or an
 * item in quarantine, nor of a block that a newer page has written.
 *
 * A block that another page writes at this moment is passed over: waiting for it could be waiting
 * for each other, and that page's own walk says at its end where the block belongs.
 */
export async function releaseBlocks(tx: Transaction, walk: WalkEndContext): Promise<void> {
  await tx.execute(sql`
    with walked as (
      select range_agg(heights) as served,
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
        and not height <@ served
        and page_id < first_page
      for update of block skip locked
    ), released as (
      update explorer.blocks as t
      set ${assign(blocks, {
        optimism_batch_number: sql`null::bigint`,
        updated_at: sql`now()`,
        page_id: sql`${walk.page_id}::bigint`,
      })}
      from gone
      where t.chain_id = ${walk.chain_id} and t.height = gone.height
      returning ${sql.raw(tallied())}
    )
    ${sql.raw(tally(blocks, 'released'))}
  `);
}

/** The batch, and those that stored blocks among the ones served: they may have lost some to it. */
export async function touchedBatches(tx: Transaction, walk: WalkEndContext): Promise<number[]> {
  const { rows } = await tx.execute<{ number: number }>(sql`
    with served as (
      select coalesce(range_agg(heights), '{}') as heights
      from etl.pages
      where walk_id = ${walk.walk_id}
    )
    select ${walk.scope.batch}::float8 as number
    union
    select batch_number::float8
    from explorer.optimism_batches, served
    where chain_id = ${walk.chain_id}
      and blocks_count > 0
      and int8range(first_height, last_height, '[]') && heights
  `);
  return rows.map(({ number }) => number);
}
