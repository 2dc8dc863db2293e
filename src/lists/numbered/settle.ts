import { sql, type SQL } from 'drizzle-orm';
import { changeTime } from '../../db/changes.ts';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import type {
  EndClaim,
  EndVerdict,
  NumberedOperation,
  NumberedWalk,
  WalkEndContext,
} from '../operation.ts';
import { isOf, tablesOf } from './walks.ts';
import { z } from 'zod';

/** Above every batch number: an upper bound lets the planner use an index. */
const highestNumber = Number.MAX_SAFE_INTEGER;

/**
 * A claim that a batch's list ends is believed, as its neighbours verify the batch, and one that they do not verify is
 * read again. Not if blocks of the batch are stored below, at an empty page behind a cursor, which names an item, or if
 * no batch below can verify where it begins.
 */
export async function judgeBatchEnd(
  list: NumberedOperation,
  db: Queryable,
  claim: EndClaim<NumberedWalk>,
): Promise<EndVerdict> {
  const { batch } = claim.scope;
  const isOdd = claim.rows.length + claim.quarantined === 0 && claim.cursor !== null;
  const [bottom] = claim.rows.toSorted((a, b) => (a.height ?? Infinity) - (b.height ?? Infinity));
  const own = isOfBatch(list, claim);
  const { lowest, stored, is_verified, is_lowest } = await execute(db).one(storedBelowShape)`
    select lowest::float8 as lowest,
           (
             select count(*)::float8 from etl.batch_blocks
             where ${own} and (height >= lowest) is not true
           ) as stored,
           exists (select from etl.batch_states where ${own} and is_verified) as is_verified,
           exists (
             select from etl.feeds
             join etl.covered_batches using (feed)
             cross join unnest(target_numbers) as range
             where feed = ${claim.feed}
               and ${batch}::bigint <@ range
               and int8range(lower(range), ${batch}::bigint) <@ read
               and not exists (
                 select from etl.batch_states
                 where ${isOf({ ...claim, operation: list.name })}
                   and blocks_count > 0
                   and batch_number >= lower(range)
                   and batch_number < ${batch}
               )
           ) as is_lowest
    from (
      select least(min(bottom), ${bottom?.height ?? null}::bigint) as lowest
      from etl.pages
      where walk_id = ${claim.walk_id}
    ) as walked
  `;
  if (stored > 0 && is_verified) {
    const from = lowest === null ? 'no block' : `no block below ${lowest}`;
    const evidence = `batch ${batch} lists ${from}, and ${stored} are verified`;
    return { is: 'contradicted', evidence, question: null };
  }
  // A probe that finds none concludes nothing.
  if (is_lowest && claim.scope.probe !== true)
    return { is: 'unsupported', shows: bottom?.row['parent_hash'] };
  return { is: stored > 0 || isOdd ? 'unsupported' : 'supported' };
}

/** How many blocks of a batch are stored below the lowest one that a walk was served; null: it was served none. */
const storedBelowShape = () =>
  z.object({
    lowest: z.number().nullable(),
    stored: z.number(),
    is_verified: z.boolean(),
    is_lowest: z.boolean(),
  });

/** As SQL: what all numbered lists have in common, of a walk's batch. */
const isOfBatch = (
  { name: operation }: NumberedOperation,
  { chain_id, scope: { batch } }: Pick<EndClaim<NumberedWalk>, 'chain_id' | 'scope'>,
) => sql`${isOf({ chain_id, operation })} and batch_number = ${batch}::bigint`;

/** Concludes which blocks a batch has, and which batches the chain verifies; one walk at a time. */
export async function concludeBatch(
  list: NumberedOperation,
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<null> {
  const ending = { list, tx, walk };
  await releaseBlocks(ending);
  const touched = await touchedBatches(ending);
  await describeBatches(ending, touched);
  await noteObservation(ending);
  await settleBatches(ending, touched);
  return null;
}

/** A walk that ends, in the transaction of its last page. */
interface Ending {
  readonly list: NumberedOperation;
  readonly tx: Transaction;
  readonly walk: WalkEndContext<NumberedWalk>;
}

/** As SQL: batches and the nearest with blocks on both sides. One is verified by the run that saw its end. */
function judgedBy({ list, walk }: Ending, batches: readonly number[]): SQL {
  const standing = sql`select * from etl.batch_standing where ${isOf({ ...walk, operation: list.name })}`;
  return sql`
    select own.*, is_confirmed and (state = 'settled' or run_id = ${walk.run_id}) as is_settled
    from (
      select distinct unnest(array[batch_number, below, above]) as number
      from (${standing} and batch_number = any(${sql.param(batches)}::bigint[])) as touched
    ) as near, lateral (
      ${standing} and batch_number = number and blocks_count > 0
      -- A join would judge all batches of the chain.
      offset 0
    ) as own
  `;
}

/** Judges batches and those around; verifies gaps between two that meet, or below the lowest. Moves the coverage alike. */
async function settleBatches(ending: Ending, batches: readonly number[]): Promise<void> {
  const { list, tx, walk } = ending;
  const { chain_id, page_id, feed } = walk;
  const { states } = tablesOf(list);
  await tx.execute(sql`
    with judged as (
      ${judgedBy(ending, batches)}
    ), gaps as (
      select batch_number as low, least(above, ceiling) as high, is_joined_above as is_verified
      from judged
      union
      select below, batch_number, is_joined_below from judged where below >= floor
      union
      select floor - 1, batch_number, is_settled and not has_unread_below
      from judged
      where (below >= floor) is not true
    ), empty_ones as (
      select batch_number, is_verified
      from gaps, lateral (
        select batch_number from ${states}
        where chain_id = ${chain_id} and blocks_count = 0 and batch_number > low
          and batch_number < coalesce(high, ${highestNumber}::bigint)
        -- Keeps the planner from joining all batches with all gaps.
        offset 0
      ) as empty
      union all
      -- One that is in no gap, outside the target, is not verified.
      select batch_number, false from ${states}
      where chain_id = ${chain_id} and blocks_count = 0
        and batch_number = any(${sql.param(batches)}::bigint[])
    ), verdicts as materialized (
      select batch_number, case when is_settled then 'settled' else 'open' end as state,
             blocks_count, is_settled as is_verified
      from judged
      union all
      select batch_number, 'empty', 0, bool_or(is_verified) from empty_ones group by batch_number
    ), written as (
      insert into ${states} as t (
        chain_id, batch_number, state, blocks_count, is_verified, walked_at, page_id,
        first_seen_at, updated_at
      )
      select ${chain_id}::bigint, batch_number, state, blocks_count, is_verified, now(),
             ${page_id}::bigint, ${sql.raw(changeTime)}, ${sql.raw(changeTime)}
      from verdicts
      order by batch_number
      on conflict (chain_id, batch_number) do update
      set state = excluded.state,
          is_verified = excluded.is_verified,
          updated_at = excluded.updated_at,
          page_id = greatest(t.page_id, excluded.page_id)
      where (t.state, t.is_verified) <> (excluded.state, excluded.is_verified)
    )
    insert into etl.batch_coverage as kept (feed, read, verified)
    select ${feed}, range_agg(number), coalesce(range_agg(number) filter (where is_verified), '{}')
    from verdicts, int8range(batch_number, batch_number + 1) as number
    -- A walk that changes nothing writes nothing.
    where not exists (
      select from etl.batch_coverage as own
      where own.feed = ${feed} and number <@ read and is_verified = (number <@ own.verified)
    )
    having count(*) > 0
    on conflict (feed) do update
    set read = kept.read + excluded.read,
        verified = kept.verified - excluded.read + excluded.verified
  `);
}

/**
 * Describes batches by their blocks, and notes that they are read, before they are judged: what is beside an unread number
 * stays as it was. A probe that finds none leaves no row: the batch may come.
 */
async function describeBatches({ list, tx, walk }: Ending, batches: readonly number[]) {
  const { states } = tablesOf(list);
  await tx.execute(sql`
    with described as (
      insert into ${states} as t (
        chain_id, batch_number, state, blocks_count, first_height, last_height,
        is_contiguous, is_linked, walked_at, page_id, first_seen_at, updated_at
      )
      select ${walk.chain_id}::bigint, number, 'open', blocks, lowest, highest,
             highest - lowest + 1 = blocks, case when blocks > 0 then unlinked = 0 end,
             now(), ${walk.page_id}::bigint, ${sql.raw(changeTime)}, ${sql.raw(changeTime)}
      from unnest(${sql.param(batches)}::bigint[]) as number,
           etl.count_blocks(${walk.chain_id}, ${list.name}, number)
      where blocks > 0
        or not ${walk.scope.probe ?? false}
        or exists (
          select from ${states} as known
          where known.chain_id = ${walk.chain_id} and known.batch_number = number
        )
      order by number
      on conflict (chain_id, batch_number) do update
      set blocks_count = excluded.blocks_count,
          first_height = excluded.first_height,
          last_height = excluded.last_height,
          is_contiguous = excluded.is_contiguous,
          is_linked = excluded.is_linked,
          walked_at = excluded.walked_at,
          updated_at = excluded.updated_at,
          page_id = greatest(t.page_id, excluded.page_id)
      where (t.blocks_count, t.first_height, t.last_height, t.is_contiguous, t.is_linked)
            is distinct from
            (excluded.blocks_count, excluded.first_height, excluded.last_height,
             excluded.is_contiguous, excluded.is_linked)
      returning t.batch_number
    )
    insert into etl.batch_coverage as kept (feed, read, verified)
    select ${walk.feed}, range_agg(int8range(batch_number, batch_number + 1)), '{}'
    from described
    having count(*) > 0
    on conflict (feed) do update set read = kept.read + excluded.read
  `);
}

/**
 * Takes the number from blocks that claim to be in the batch and that its walk did not serve. A
 * walk out of order or with a quarantined item concludes nothing, and a newer page's block stays.
 * Below the lowest served block, that block's parent must be in a lower batch. Two walks in a row
 * that were served none take all, unless the batch above builds on them. Blocks that another page
 * is writing are skipped: waiting could deadlock.
 */
async function releaseBlocks({ list, tx, walk }: Ending): Promise<void> {
  const { blocks, number } = tablesOf(list);
  await tx.execute(sql`
    with walked as materialized (
      select * from etl.served_walks where walk_id = ${walk.walk_id} and is_whole
    ), gone as (
      select height
      from ${blocks} as block, walked
      where chain_id = ${walk.chain_id}
        and ${number} = ${walk.scope.batch}
        and height >= ${walk.readDownTo}
        -- Nothing is known of what is above the page that a walk entered at.
        and (entered_at is null or height < entered_at)
        and not height <@ served
        and page_id < first_page
        and (
          height > lowest
          or lowest is null and entered_at is null and exists (
            select from etl.batch_standing
            where ${isOfBatch(list, walk)}
              and times_seen > 0 and bottom is null and not meets_above
          ) and not exists (
            -- One that failed in between may have met some.
            select from etl.walks
            where feed = ${walk.feed} and batch = ${walk.scope.batch} and items > 0
              and id > (select walk_id from etl.batch_observations where ${isOfBatch(list, walk)})
          )
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
    set ${number} = null, updated_at = ${sql.raw(changeTime)}, page_id = ${walk.page_id}
    from gone
    where t.chain_id = ${walk.chain_id} and t.height = gone.height
  `);
}

/** The batch, and those that had blocks among the served heights: it may have taken some of them. */
const touchedBatches = ({ list, tx, walk }: Ending) =>
  execute(tx).values(z.number)`
    select ${walk.scope.batch}::float8 as number
    union
    select batch_number::float8
    from ${tablesOf(list).states}, etl.served_walks
    where walk_id = ${walk.walk_id}
      and chain_id = ${walk.chain_id}
      and blocks_count > 0
      and int8range(first_height, last_height, '[]') && served
  `;

/**
 * Notes where a walk saw its batch's list begin and end. One out of order or with a quarantined item has seen nothing, nor has
 * one that entered at the last page and was served no block.
 */
async function noteObservation({ list, tx, walk }: Ending): Promise<void> {
  await tx.execute(sql`
    with seen as (
      select highest as top, lowest as bottom, is_from_head, is_conclusive,
             is_conclusive and ${walk.readDownTo === 0} as is_whole,
             (
               select parent_hash from ${tablesOf(list).blocks}
               where chain_id = ${walk.chain_id} and height = lowest
             ) as parent_hash
      from etl.served_walks
      where walk_id = ${walk.walk_id}
    ), before as (
      -- Until a higher one was there, an empty number said only that its batch had not come yet.
      select *, (
        select higher.walk_id < own.walk_id from etl.batch_observations as higher
        where (higher.chain_id, higher.operation) = (own.chain_id, own.operation)
          and higher.batch_number > own.batch_number and higher.bottom is not null
        order by higher.batch_number limit 1) as is_below_another
      from etl.batch_observations as own
      where ${isOfBatch(list, walk)}
    )
    insert into etl.batch_observations (
      chain_id, operation, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
    )
    select ${walk.chain_id}::bigint, ${list.name}, ${walk.scope.batch}::bigint,
           -- A walk of the last page alone has not seen where the list begins.
           case when is_conclusive then case when is_from_head then seen.top else before.top end end,
           case when is_whole then seen.bottom when is_conclusive then before.bottom end,
           case when is_whole then seen.parent_hash when is_conclusive then before.parent_hash end,
           case
             when not is_conclusive then 0
             when not is_whole then coalesce(before.times_seen, 0)
             when before.walk_id = ${walk.walk_id} then greatest(before.times_seen, 1)
             when (before.bottom, before.parent_hash)
                    is not distinct from (seen.bottom, seen.parent_hash)
               and before.times_seen > 0
               and (seen.bottom is not null or before.run_id = ${walk.run_id} or is_below_another)
             then before.times_seen + 1
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
