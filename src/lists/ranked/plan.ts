import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { ofFeed } from '../feed.ts';
import type { PlannedWalk, RunOf } from '../list.ts';
import type { RankedWalk } from '../operation.ts';
import { rowsMoved } from '../ranking.ts';

/** What a run of a ranked list covers: the whole list, or so many of its pages. */
export type RankedScope = { readonly max_pages?: number };

/**
 * A ranking's next walk: the whole list once, and again while the last walk ended because rows moved.
 * The operation bounds how often that is: its last walk ends published. Again, too, where one was cut short:
 * what it lacks may have been left out above, so that its end would never be right. Rests bound how often.
 */
export async function planRankedWalk(
  tx: Transaction,
  run: RunOf<RankedScope>,
): Promise<PlannedWalk<RankedWalk> | null> {
  const { rows } = await tx.execute<{ again: boolean }>(sql`
    select (state = 'finished' and reason is not distinct from ${rowsMoved})
             or (state = 'failed' and failure is not distinct from 'truncated') as again
    from etl.walks
    where run_id = ${run.id}
    order by id desc
    limit 1
  `);
  if (rows[0]?.again === false) return null;
  await forgetOthers(tx, run);
  const { max_pages } = run.scope;
  return { scope: max_pages === undefined ? {} : { max_pages }, floor: null, cursor: null };
}

/** What walks of other runs met will never be published: those runs failed or were superseded. */
async function forgetOthers(tx: Transaction, run: RunOf<RankedScope>): Promise<void> {
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (
      select ${ofFeed(run)} and run_id <> ${run.id} from etl.walks where walks.id = walk_id
    )
  `);
}
