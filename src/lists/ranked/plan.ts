import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { rowsMoved } from '../../operations/factories/census.ts';
import type { PlannedWalk, TickOf } from '../list.ts';

/** What a tick of a ranked list covers: the whole list, or so many of its pages. */
export type RankedScope = { readonly max_pages?: number };

/**
 * A census' next walk: the whole list once, and again while the last walk ended because rows moved.
 * The operation bounds how often that is: its last walk ends published. Again, too, where one was cut short:
 * what it lacks may have been left out above, so that its end would never be right. Rests bound how often.
 */
export async function planCensusWalk(
  tx: Transaction,
  tick: TickOf<RankedScope>,
): Promise<PlannedWalk | null> {
  const { rows } = await tx.execute<{ again: boolean }>(sql`
    select (state = 'finished' and reason is not distinct from ${rowsMoved})
             or (state = 'failed' and failure is not distinct from 'truncated') as again
    from etl.walks
    where tick_id = ${tick.id}
    order by id desc
    limit 1
  `);
  if (rows[0]?.again === false) return null;
  await forgetOthers(tx, tick);
  const { max_pages } = tick.scope;
  return { scope: max_pages === undefined ? {} : { max_pages }, floor: null, cursor: null };
}

/** What walks of other ticks met will never be published: those ticks failed or were set aside. */
async function forgetOthers(tx: Transaction, tick: TickOf<RankedScope>): Promise<void> {
  await tx.execute(sql`
    delete from etl.census_entries
    using etl.walks
    where walks.id = walk_id
      and chain_id = ${tick.chain_id}
      and operation = ${tick.operation}
      and tick_id <> ${tick.id}
  `);
}
