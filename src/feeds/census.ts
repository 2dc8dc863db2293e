import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import { cutShort, listEmpty, partSkipped, rowsMoved } from '../operations/factories/census.ts';
import type { PlannedWalk } from './segments.ts';
import { boundsOf } from './sweep.ts';
import type { TickRow } from './tick.ts';

/**
 * A census' next walk: the whole list once, and again while the last walk ended because rows moved.
 * The operation bounds how often that is: its last walk ends published. Again, too, where one was cut short:
 * what it lacks may have been left out above, so that its end would never be right. Rests bound how often.
 */
export async function planCensusWalk(tx: Transaction, tick: TickRow): Promise<PlannedWalk | null> {
  const { rows } = await tx.execute<{ again: boolean }>(sql`
    select (state = 'finished' and reason is not distinct from ${rowsMoved})
             or (state = 'failed' and reason = ${cutShort}) as again
    from etl.walks
    where tick_id = ${tick.id}
    order by id desc
    limit 1
  `);
  if (rows[0]?.again === false) return null;
  await forgetOthers(tx, tick);
  return { scope: boundsOf(tick), floor: null, cursor: null };
}

/** What walks of other ticks met will never be published: those ticks failed or were set aside. */
async function forgetOthers(tx: Transaction, tick: TickRow): Promise<void> {
  await tx.execute(sql`
    delete from etl.census_entries
    using etl.walks
    where walks.id = walk_id
      and chain_id = ${tick.chain_id}
      and operation = ${tick.operation}
      and tick_id <> ${tick.id}
  `);
}

/** The newest census of a feed, a row of `feeds`. */
const newestCensus = sql`
  select * from etl.censuses
  where censuses.chain_id = feeds.chain_id
  order by walk_id desc
  limit 1
`;

/** What the newest census proves of a feed, a row of `feeds`, as ranks: a JSON list; as SQL. */
export const countedFactories = sql`
  select json_agg(
    json_build_object(
      'from', 1, 'to', factories, 'as_of', as_of, 'newest_look', coalesce(started_at, as_of)
    )
  )
  from (${newestCensus}) as newest
  left join etl.walks on walks.id = newest.walk_id
  where factories > 0
`;

/** What is to be known of the newest census of a feed, a row of `feeds`: a JSON list; as SQL. */
export const censusNotes = sql`
  select json_agg(note) from (
    select 'factories still moved during the last of ' || walks
      || ' walks: one that moved up may be missing' as note
    from (${newestCensus}) as newest
    where still_moving
    union all
    select case reason
      when ${listEmpty} then 'the list was empty, where factories were listed before: not believed'
      else 'the list skipped a part with an empty page that leads on: the last walk is no census'
    end
    from (
      select reason from etl.walks
      where walks.chain_id = feeds.chain_id and walks.operation = feeds.operation
      order by id desc
      limit 1
    ) as last
    where reason in (${listEmpty}, ${partSkipped})
  ) as notes
`;
