import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/query.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { EndClaim, EndVerdict, NumberedWalk, WalkEndContext } from '../operation.ts';
import { type NumberedList, tablesOf } from './list.ts';

interface Standing extends Record<string, unknown> {
  /** The lowest block that the walk was served; null: none. */
  readonly lowest: number | null;
  /** Stored blocks of the batch below `lowest`. */
  readonly stored_below: number;
  readonly is_verified: boolean;
  /** The batch of the stored block that the lowest one names as its parent. */
  readonly stands_on: number | null;
  /** The nearest lower batch with blocks. */
  readonly below: number | null;
  /** Whether every number between `below` and this one was read. */
  readonly is_next: boolean;
}

/**
 * Whether stored rows support the end of a batch's list: neighbours verify it, so a claim passes
 * unless stored blocks are missing, the batch below does not meet it, or the end is odd.
 */
export async function judgeBatchEnd(
  list: NumberedList,
  db: Queryable,
  claim: EndClaim<NumberedWalk>,
): Promise<EndVerdict> {
  const batch = claim.scope.batch;
  const found = await standing(list, db, claim);
  const { lowest, stored_below, is_verified, stands_on, below, is_next } = found;
  const from = lowest === null ? 'no block' : `no block below ${lowest}`;
  if (is_verified && stored_below > 0) {
    return {
      is: 'contradicted',
      evidence: `batch ${batch} lists ${from}, and ${stored_below} are verified`,
      question: null,
    };
  }
  if (stored_below > 0) return { is: 'unsupported' };
  if (stands_on !== null && stands_on < batch) return { is: 'supported' };
  if (isOdd(claim)) return { is: 'unsupported' };
  if (lowest === null) return { is: 'supported' };
  // The lower neighbour is read already, and this is not its upper border.
  return { is: below !== null && is_next ? 'unsupported' : 'supported' };
}

/** An empty page cannot follow a cursor, which names an item; a full page mostly has a cursor. */
const isOdd = ({ rows, quarantined, entry, isFull }: EndClaim) =>
  isFull || (rows.length + quarantined === 0 && entry !== 'head');

async function standing(
  list: NumberedList,
  db: Queryable,
  { walk_id, chain_id, scope: { batch }, rows: served }: EndClaim<NumberedWalk>,
): Promise<Standing> {
  const page = served
    .flatMap(({ height, row }) => (height === null ? [] : [{ height, parent: row['parent_hash'] }]))
    .toSorted((a, b) => a.height - b.height)[0];
  const { blocks, states, number } = tablesOf(list);
  const { rows } = await db.execute<Standing>(sql`
    with walked as (
      select least(min(bottom), ${page?.height ?? null}::bigint) as lowest
      from etl.pages
      where walk_id = ${walk_id}
    ), parent as (
      select case
               when lowest = ${page?.height ?? null}::bigint then ${page?.parent ?? null}::text
               else (
                 select parent_hash from ${blocks} where chain_id = ${chain_id} and height = lowest
               )
             end as hash
      from walked
    ), below as (
      select max(batch_number) as number
      from ${states}
      where chain_id = ${chain_id} and blocks_count > 0 and batch_number < ${batch}
    )
    select lowest::float8 as lowest,
           (
             select count(*) from ${blocks}
             where chain_id = ${chain_id}
               and ${number} = ${batch}
               and height < coalesce(lowest, ${Number.MAX_SAFE_INTEGER}::bigint)
           )::float8 as stored_below,
           exists (
             select from ${states}
             where chain_id = ${chain_id} and batch_number = ${batch} and is_verified
           ) as is_verified,
           (
             select ${number} from ${blocks} as stored
             where chain_id = ${chain_id} and height = lowest - 1 and stored.hash = parent.hash
           )::float8 as stands_on,
           below.number::float8 as below,
           (
             select count(*) from ${states}
             where chain_id = ${chain_id} and batch_number > below.number and batch_number < ${batch}
           ) = ${batch}::bigint - below.number - 1 as is_next
    from walked, parent, below
  `);
  const [found] = rows;
  if (found === undefined) throw new Error('an aggregate has one row');
  return found;
}

/**
 * Takes the number from blocks that claim to be in the batch and that its walk did not serve. A
 * walk out of order or with a quarantined item concludes nothing, and a newer page's block stays.
 * Below the lowest served block, that block's parent must be in a lower batch. Blocks that another
 * page is writing are skipped: waiting could deadlock.
 */
export async function releaseBlocks(
  list: NumberedList,
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<void> {
  const { blocks, number } = tablesOf(list);
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
      from ${blocks} as block, walked
      where is_conclusive
        and chain_id = ${walk.chain_id}
        and ${number} = ${walk.scope.batch}
        and height >= ${walk.readDownTo}
        and (entered_at is null or height < entered_at)
        and not height <@ served
        and page_id < first_page
        and (
          height > lowest
          -- One hash has one height: the other was a wrong number.
          or exists (
            select from ${blocks} as same
            where same.hash = block.hash
              and same.chain_id = ${walk.chain_id}
              and same.height <> block.height
              and same.height <@ served
          )
          or exists (
            select from ${blocks} as bottom
            join ${blocks} as below
              on below.chain_id = bottom.chain_id
              and below.height = bottom.height - 1
              and below.hash = bottom.parent_hash
            where bottom.chain_id = ${walk.chain_id}
              and bottom.height = lowest
              and below.${number} < ${walk.scope.batch}
          )
        )
      for update of block skip locked
    )
    update ${blocks} as t
    set ${number} = null, updated_at = now(), page_id = ${walk.page_id}
    from gone
    where t.chain_id = ${walk.chain_id} and t.height = gone.height
  `);
}

/** The batch, and those that had blocks among the served heights: it may have taken some of them. */
export async function touchedBatches(
  list: NumberedList,
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
    from ${tablesOf(list).states}, served
    where chain_id = ${walk.chain_id}
      and blocks_count > 0
      and int8range(first_height, last_height, '[]') && heights
  `);
  return rows.map(({ number }) => number);
}

/**
 * Notes where a walk saw its batch's list begin and end, and the lowest block's parent: stored
 * blocks must agree. A walk out of order or with a quarantined item has seen nothing, nor has one
 * that entered at the last page and was served no block.
 */
export async function noteObservation(
  list: NumberedList,
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<void> {
  const readsEnd = sql`${walk.readDownTo === 0}`;
  await tx.execute(sql`
    with walked as (
      select range_merge(range_agg(heights)) as span,
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
      select upper(span) - 1 as top, lower(span) as bottom, from_head, is_conclusive,
             is_conclusive and ${readsEnd} as is_whole,
             (
               select parent_hash from ${tablesOf(list).blocks}
               where chain_id = ${walk.chain_id} and height = lower(span)
             ) as parent_hash
      from walked, lateral (
        select is_orderly and (from_head or not isempty(span)) as is_conclusive
      ) as judged
    ), before as (
      select * from etl.batch_observations
      where chain_id = ${walk.chain_id} and operation = ${list.name}
        and batch_number = ${walk.scope.batch}
    )
    insert into etl.batch_observations (
      chain_id, operation, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
    )
    select ${walk.chain_id}::bigint, ${list.name}, ${walk.scope.batch}::bigint,
           -- A walk of the last page alone has not seen where the list begins.
           case when is_conclusive then case when from_head then seen.top else before.top end end,
           case when is_whole then seen.bottom when is_conclusive then before.bottom end,
           case when is_whole then seen.parent_hash when is_conclusive then before.parent_hash end,
           case
             when not is_conclusive then 0
             when not is_whole then coalesce(before.times_seen, 0)
             when before.walk_id = ${walk.walk_id} then greatest(before.times_seen, 1)
             when (before.bottom, before.parent_hash)
                    is not distinct from (seen.bottom, seen.parent_hash)
               and before.times_seen > 0 then before.times_seen + 1
             else 1
           end,
           ${walk.walk_id}::bigint,
           case when is_whole then ${walk.run_id}::bigint
                else coalesce(before.run_id, ${walk.run_id}::bigint) end
    from seen left join before on true
    on conflict (chain_id, operation, batch_number) do update
    set (top, bottom, parent_hash, times_seen, walk_id, run_id)
          = (excluded.top, excluded.bottom, excluded.parent_hash, excluded.times_seen,
             excluded.walk_id, excluded.run_id)
  `);
}
