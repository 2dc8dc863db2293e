import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { NumberedWalk, WalkEndContext } from '../operation.ts';
import { noteObservation, releaseBlocks, touchedBatches } from './ends.ts';
import { type NumberedList, tablesOf } from './list.ts';

/** Widest gap of numbers noted as empty without a request: beyond it the numbering has jumped. */
const widestGap = 1_000;

/** Above every batch number: an upper bound lets the planner use an index. */
const highestNumber = Number.MAX_SAFE_INTEGER;

/** Concludes which blocks a batch has, and which batches the chain verifies; one walk at a time. */
export async function concludeBatch(
  list: NumberedList,
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
): Promise<null> {
  await releaseBlocks(list, tx, walk);
  const touched = await touchedBatches(list, tx, walk);
  await describeBatches(list, tx, walk, touched);
  await noteObservation(list, tx, walk);
  await settleBatches(list, tx, walk, touched);
  return null;
}

/** The nearest batch with blocks on one side of a number, as a lateral subquery. */
const nearest = (list: NumberedList, side: 'below' | 'above', chainId: number, number: SQL) => sql`
  select batch_number, first_height, last_height
  from ${tablesOf(list).states}
  where chain_id = ${chainId}
    and blocks_count > 0
    and batch_number ${sql.raw(side === 'below' ? '<' : '>')} ${number}
  order by batch_number ${sql.raw(side === 'below' ? 'desc' : 'asc')}
  limit 1
`;

/** As SQL: whether no observation on this side contradicts the stored blocks. */
const isAgreed = (observation: SQL, end: 'top' | 'bottom', stored: SQL) => sql`
  coalesce(${observation}.times_seen = 0 or ${observation}.${sql.raw(end)} = ${stored}, ${observation}.times_seen is null)
`;

/** As SQL: whether a number from one up to below another was never read to its end. */
const hasUnread = (list: NumberedList, chainId: number, from: SQL, to: SQL) => sql`coalesce(
  (${to}) - (${from}) > (
    select count(*) from ${tablesOf(list).states} as read
    where read.chain_id = ${chainId}
      and read.batch_number >= (${from})
      and read.batch_number < (${to})
  ),
  false
)`;

/** CTEs up to `placed`: batches with blocks, the nearest on both sides, and whether they meet. */
const placed = (
  list: NumberedList,
  chainId: number,
  feed: string,
  batches: readonly number[],
) => sql`
  touched as (
    select number from unnest(${sql.param(batches)}::bigint[]) as number
  ), near as (
    select number from touched
    union
    select batch_number from touched, lateral (${nearest(list, 'below', chainId, sql`number`)}) as below
    union
    select batch_number from touched, lateral (${nearest(list, 'above', chainId, sql`number`)}) as above
  ), placed as (
    select batch.batch_number, batch.state, batch.is_contiguous and batch.is_linked as is_chain,
           batch.first_height, below.batch_number as below, above.batch_number as above,
           lower(target.range) as floor,
           case when target.range is null then batch.batch_number + 1
                else upper(target.range) end as ceiling,
           etl.batches_meet(${chainId}, ${list.name}, batch.last_height, above.first_height) is true
             and ${isAgreed(sql`observation`, 'top', sql`batch.last_height`)}
             and ${isAgreed(sql`observation_above`, 'bottom', sql`above.first_height`)} as meets_above,
           etl.batches_meet(${chainId}, ${list.name}, below.last_height, batch.first_height) is true
             and ${isAgreed(sql`observation`, 'bottom', sql`batch.first_height`)}
             and ${isAgreed(sql`observation_below`, 'top', sql`below.last_height`)} as meets_below,
           (observation.top, observation.bottom) = (batch.last_height, batch.first_height) as is_seen,
           observation.times_seen, observation.run_id,
           ${hasUnread(list, chainId, sql`greatest(below.batch_number + 1, lower(target.range))`, sql`batch.batch_number`)}
             as has_unread_below,
           ${hasUnread(list, chainId, sql`batch.batch_number + 1`, sql`coalesce(above.batch_number, batch.batch_number + 2)`)}
             as has_unread_above
    from near
    join ${tablesOf(list).states} as batch
      on batch.chain_id = ${chainId} and batch.batch_number = number and blocks_count > 0
    left join lateral (${nearest(list, 'below', chainId, sql`number`)}) as below on true
    left join lateral (${nearest(list, 'above', chainId, sql`number`)}) as above on true
    left join etl.batch_observations as observation
      on observation.chain_id = ${chainId}
      and observation.operation = ${list.name}
      and observation.batch_number = number
    left join etl.batch_observations as observation_below
      on observation_below.chain_id = ${chainId}
      and observation_below.operation = ${list.name}
      and observation_below.batch_number = below.batch_number
    left join etl.batch_observations as observation_above
      on observation_above.chain_id = ${chainId}
      and observation_above.operation = ${list.name}
      and observation_above.batch_number = above.batch_number
    left join lateral (
      select range
      from etl.feeds, unnest(target_numbers) as range
      where feed = ${feed} and number <@ range
    ) as target on true
  )
`;

/**
 * As SQL, over `placed`: a batch is verified if it is a chain without pending blocks, meets both
 * neighbours in height and hash, and its list was seen to begin and end so, the end by the run that
 * verifies it. It stays so beside unread numbers. The lowest has no neighbour below: two walks must
 * have seen its end, and that each number below is empty.
 */
function isSettled(list: NumberedList, chainId: number, runId: number) {
  const { blocks, states, number } = tablesOf(list);
  return sql`(
  is_chain and is_seen
  and (meets_above or state = 'settled' and has_unread_above)
  and (state = 'settled' or run_id = ${runId})
  and (
    meets_below
    or state = 'settled' and has_unread_below
    or (below >= floor) is not true
      and times_seen > 1
      and exists (
        select from ${blocks}
        where chain_id = ${chainId} and height = first_height and parent_hash is not null
      )
      and batch_number - floor = (
        select count(*)
        from ${states} as read
        join etl.batch_observations as observation
          on observation.chain_id = read.chain_id
          and observation.operation = ${list.name}
          and observation.batch_number = read.batch_number
          and observation.times_seen > 1
          and observation.bottom is null
        where read.chain_id = ${chainId}
          and read.batch_number >= floor
          and read.batch_number < placed.batch_number
      )
  )
  and not exists (
    select from ${blocks} as block
    where block.chain_id = ${chainId}
      and block.${number} = placed.batch_number
      and is_pending_update
  )
) is true`;
}

/** Judges batches and those around; verifies gaps between two that meet, or below the lowest. */
async function settleBatches(
  list: NumberedList,
  tx: Transaction,
  { chain_id, feed, page_id, run_id }: WalkEndContext<NumberedWalk>,
  batches: readonly number[],
): Promise<void> {
  const { states } = tablesOf(list);
  await tx.execute(sql`
    with ${placed(list, chain_id, feed, batches)}, judged as (
      select *, ${isSettled(list, chain_id, run_id)} as is_settled from placed
    ), full_ones as (
      update ${states} as t
      set state = case when is_settled then 'settled' else 'open' end,
          is_verified = is_settled,
          updated_at = now(),
          page_id = greatest(page_id, ${page_id}::bigint)
      from judged
      where chain_id = ${chain_id}
        and t.batch_number = judged.batch_number
        and (t.is_verified, t.state = 'settled') is distinct from (is_settled, is_settled)
    ), gaps as (
      select batch_number as low, least(above, ceiling) as high, meets_above as is_verified
      from judged
      union
      select below, batch_number, meets_below from judged where below >= floor
      union
      select floor - 1, batch_number, is_settled and not has_unread_below
      from judged
      where (below >= floor) is not true
    ), wrong_ones as (
      select wrong.batch_number, gaps.is_verified
      from gaps, lateral (
        select batch_number
        from ${states} as batch
        where chain_id = ${chain_id}
          and batch_number > low
          and batch_number < coalesce(high, ${highestNumber}::bigint)
          and blocks_count = 0
          and batch.is_verified <> gaps.is_verified
        -- Keeps the planner from joining all batches with all gaps.
        offset 0
      ) as wrong
    ), empty_ones as (
      update ${states} as t
      set is_verified = wrong_ones.is_verified,
          updated_at = now(),
          page_id = greatest(page_id, ${page_id}::bigint)
      from wrong_ones
      where chain_id = ${chain_id} and t.batch_number = wrong_ones.batch_number
    )
    insert into ${states} (
      chain_id, batch_number, state, blocks_count, is_verified, walked_at, page_id
    )
    select ${chain_id}::bigint, number, 'empty', 0, true, now(), ${page_id}::bigint
    from gaps, generate_series(low + 1, high - 1) as number
    where is_verified and high - low <= ${widestGap}
    order by number
    on conflict do nothing
  `);
}

/** Describes batches by their blocks. A probe that finds none leaves no row: the batch may come. */
async function describeBatches(
  list: NumberedList,
  tx: Transaction,
  walk: WalkEndContext<NumberedWalk>,
  batches: readonly number[],
): Promise<void> {
  const { blocks, states, number } = tablesOf(list);
  await tx.execute(sql`
    with members as (
      select ${number} as batch_number, height, parent_hash,
             lag(hash) over (partition by ${number} order by height) as hash_below
      from ${blocks}
      where chain_id = ${walk.chain_id}
        and ${number} = any(${sql.param(batches)}::bigint[])
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
    insert into ${states} as t (
      chain_id, batch_number, state, blocks_count, first_height, last_height,
      is_contiguous, is_linked, is_verified, walked_at, page_id
    )
    select ${walk.chain_id}::bigint, batch_number,
           case when blocks_count = 0 then 'empty' else 'open' end,
           blocks_count, first_height, last_height, is_contiguous, is_linked, false,
           now(), ${walk.page_id}::bigint
    from summary
    where blocks_count > 0
      or not ${walk.scope.probe ?? false}
      or exists (
        select from ${states} as known
        where known.chain_id = ${walk.chain_id} and known.batch_number = summary.batch_number
      )
    order by batch_number
    on conflict (chain_id, batch_number) do update
    set state = case
          when excluded.blocks_count = 0 then 'empty'
          when t.blocks_count = 0 then 'open'
          else t.state
        end,
        is_verified = t.is_verified and (t.blocks_count = 0) = (excluded.blocks_count = 0),
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
