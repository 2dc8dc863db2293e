import { sql } from 'drizzle-orm';
import type { ListReach, ListRibbon } from '../list.ts';

/** Newest batches that show how often one comes: a day of them. */
const recentBatches = 200;

/** The age of the newest batch's last block, and how many numbers are read and settled. */
export const status: ListReach = {
  progress: sql`json_build_object('batches', case when latest.scope ? 'to_batch' then (
    select json_build_object(
      'total', (latest.scope ->> 'to_batch')::bigint - (latest.scope ->> 'from_batch')::bigint + 1,
      'done', count(*)
    )
    from explorer.read_batches
    where chain_id = latest.chain_id
      and batch_number between (latest.scope ->> 'from_batch')::bigint
                           and (latest.scope ->> 'to_batch')::bigint
  ) end)`,
  // The batches are counted by etl.batch_counts.
  verified: sql`select null::bigint as positions, 0 as gaps, 0 as missing, null::timestamptz as snapshot_at`,
  newestTimes: sql`
    select (
      select timestamp from explorer.blocks
      where blocks.chain_id = feeds.chain_id and height = last_height
    ) as timestamp
    from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and blocks_count > 0
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
        join explorer.read_batches as batch
          on batch.chain_id = target.chain_id
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
  select requested.feed, requested."from", requested."to", batch_number, blocks.timestamp
  from requested
  join etl.feeds using (feed)
  join explorer.read_batches as batch
    on batch.chain_id = feeds.chain_id and batch_number = requested.height and blocks_count > 0
  join explorer.blocks on blocks.chain_id = batch.chain_id and blocks.height = last_height
  where kind = 'numbered'
`;

export const ribbon: ListRibbon = { parts, times };
