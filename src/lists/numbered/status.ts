import { sql, type SQL } from 'drizzle-orm';
import type { KindStatus, ListCoverage, ListReach } from '../list.ts';
import { facts } from './estimate.ts';

/** Verified by the chain, or, up to a last number, by being read: a few batches lack neighbours. */
const shows = sql`exists (
  select from etl.batch_states as batch
  where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and is_verified and batch_number <@ target_numbers
) or (
  not upper_inf(target_numbers) and target_numbers <> '{}'
  and (select sum(upper(range) - lower(range)) from unnest(target_numbers) as range) = (
    select count(*) from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and batch_number <@ target_numbers
  )
)`;

/** Ranges of numbers that the chain verifies and that hold no item in quarantine, as of the oldest and the newest conclusion in each. */
const verifiedBatches = sql`
  select json_agg(
    json_build_object(
      'from', lower(range), 'to', upper(range) - 1, 'as_of', walked.oldest, 'newest_as_of', walked.newest
    )
    order by range
  )
  from (
    select unnest(
      range_agg(int8range(batch_number, batch_number + 1))
        - coalesce((select places from etl.quarantined where quarantined.feed = feeds.feed), '{}')
    ) as range
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and is_verified
  ) as verified,
  lateral (
    select min(walked_at) as oldest, max(walked_at) as newest
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch_number >= lower(range)
      and batch_number < upper(range)
  ) as walked
`;

/** What is above the highest verified batch waits for what is to come; the lowest may have no neighbour below. */
const batchNotes = sql`
  select jsonb_agg(note order by note -> 'from' desc)
  from (
    select jsonb_build_object(
      'detail', 'waits-for-' || waits_for, 'from', lower(range), 'to', upper(range) - 1
    ) as note
    from (
      select waits_for, unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
      from etl.batch_heads
      where batch_heads.feed = feeds.feed
      group by waits_for
    ) as head
    union all
    select note from etl.batch_notes where batch_notes.feed = feeds.feed
  ) as notes
`;

const coverage: ListCoverage = {
  shows,
  lacks: 'no-verified-batch',
  by: 'ranges',
  covered: verifiedBatches,
  notes: batchNotes,
  findings: sql`select feed, finding from etl.batch_findings`,
  readsAgain: sql`later.reason is null and later.batch = (item.scope ->> 'batch')::bigint`,
};

/** As SQL: whether a newer walk read the same verified batch. Polls stay: the next counts them. */
const isPrunable = (): SQL => sql`
  exists (
    select from etl.feeds
    join etl.batch_states as batch
      on batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch.batch_number <= latest_batch
    where feeds.feed = later.feed and batch.batch_number = later.batch and is_verified
  )
  and exists (
    select from etl.walks as newer
    where newer.feed = later.feed
      and newer.batch = later.batch
      and newer.id > later.id
      and newer.state = 'finished'
      and (newer.reason is null or newer.reason = 'known')
      and coalesce(newer.top, -1) >= coalesce(later.top, -1)
  )
  and not exists (
    select from etl.batch_observations
    where batch_observations.chain_id = later.chain_id
      and batch_observations.operation = later.operation
      and batch_number = later.batch
      and walk_id = later.id
  )
`;

/** Newest batches that show how often one comes: a day of them. */
const recentBatches = 200;

/** The age of the newest batch's last block, and how many numbers are read and settled. */
const reach: ListReach = {
  progress: sql`json_build_object('batches', case when latest.scope ? 'to_batch' then (
    select json_build_object(
      'total', (latest.scope ->> 'to_batch')::bigint - (latest.scope ->> 'from_batch')::bigint + 1,
      'done', count(*)
    )
    from etl.batch_states as batch
    where batch.chain_id = latest.chain_id
      and batch.operation = latest.operation
      and batch_number between (latest.scope ->> 'from_batch')::bigint
                           and (latest.scope ->> 'to_batch')::bigint
  ) end)`,
  // The batches are counted by etl.batch_counts.
  verified: sql`select null::bigint as positions, 0 as gaps, 0 as missing, null::timestamptz as snapshot_at`,
  newestTimes: sql`
    select (
      select timestamp from etl.batch_blocks as block
      where block.chain_id = feeds.chain_id
        and block.operation = feeds.operation
        and height = last_height
    ) as timestamp
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0
    order by batch_number desc
    limit ${recentBatches}
  `,
};

/** More batches with blocks than these never wait for what is to come alone (`etl.batch_state_findings`). */
const mostInHead = 3;

const parts = sql`
    with target as materialized (
      select * from etl.target_batches
    ), listed as materialized (
      select * from etl.listed_without_blocks
    ), wanted as (
      select feed, range_agg(numbers) as numbers
      from (
        select feed, numbers from target
        union all
        select feed, range from listed
      ) as part
      group by feed
    ), read as (
      select feed,
             range_agg(number) filter (where is_verified) as verified,
             range_agg(number) filter (where is_new) as new,
             count(*) filter (where is_new and blocks_count > 0) as heads
      from (
        select target.feed, blocks_count, is_verified,
               int8range(batch_number, batch_number + 1) as number,
               not is_verified and batch_number > coalesce(settled_to, 0) and not exists (
                 select from listed where listed.feed = target.feed and batch_number <@ range
               ) as is_new
        from target
        join etl.batch_states as batch
          on batch.chain_id = target.chain_id
          and batch.operation = target.operation
          and batch_number >= lower(numbers) and batch_number < upper(numbers)
      ) as batch
      group by feed
    ), walked as (
      select walks.feed, range_agg(int8range(batch, batch + 1)) as numbers
      from etl.walks
      join etl.runs on runs.id = walks.run_id and runs.state = 'open'
      where walks.state = 'running' and walks.kind = 'numbered' and batch is not null
      group by walks.feed
    ), known as (
      select wanted.feed, wanted.numbers as wanted, coalesce(verified, '{}') as verified,
             coalesce(walked.numbers, '{}') * wanted.numbers - coalesce(verified, '{}') as reading,
             case when heads <= ${mostInHead}::bigint then coalesce(new, '{}') else '{}' end as new
      from wanted
      left join read using (feed)
      left join walked using (feed)
    )
    select feed, upper(wanted) as ends, lower(wanted) as begins,
           verified - coalesce(places, '{}') as verified, reading,
           verified * coalesce(places, '{}') as quarantined, '{}'::int8multirange as unknown,
           coalesce(new, '{}') - reading as unverified,
           wanted - verified - reading - coalesce(new, '{}') as gap,
           int8multirange(int8range(least(1, lower(wanted)), upper(wanted))) - wanted as out_of_range
    from known
    left join etl.quarantined using (feed)
  `;

/** That of a batch's last block. */
const times = sql`
  select requested.feed, requested."from", requested."to", batch.batch_number, block.timestamp
  from requested
  join etl.feeds using (feed)
  join etl.batch_states as batch
    on batch.chain_id = feeds.chain_id
    and batch.operation = feeds.operation
    and batch_number = requested.height
    and blocks_count > 0
  join etl.batch_blocks as block
    on block.chain_id = batch.chain_id
    and block.operation = batch.operation
    and block.height = last_height
  where kind = 'numbered'
`;

export const numberedStatus: KindStatus = {
  name: 'numbered',
  coverage,
  isPrunable,
  covers: () => 'batches',
  reach,
  ribbon: { parts, times },
  facts,
};
