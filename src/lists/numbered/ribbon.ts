import { sql } from 'drizzle-orm';
import { mostWitnesses, type ListRibbon } from '../ribbon.ts';

/** More batches with blocks than these never wait for what is to come alone (`etl.batch_state_findings`). */
const mostInHead = 3;

const parts = sql`
    with asked as materialized (
      select * from etl.asked_batches
    ), listed as materialized (
      select * from etl.listed_without_blocks
    ), wanted as (
      select feed, chain_id, range_agg(numbers) as numbers
      from (
        select feed, chain_id, numbers from asked
        union all
        select feed, chain_id, range from listed
      ) as part
      group by feed, chain_id
    ), read as (
      select feed,
             range_agg(number) filter (where is_proved) as proved,
             range_agg(number) filter (where is_new) as new,
             count(*) filter (where is_new and blocks_count > 0) as heads
      from (
        select asked.feed, blocks_count, is_proved,
               int8range(batch_number, batch_number + 1) as number,
               not is_proved and batch_number > coalesce(settled_to, 0) and not exists (
                 select from listed where listed.feed = asked.feed and batch_number <@ range
               ) as is_new
        from asked
        join explorer.read_batches as batch
          on batch.chain_id = asked.chain_id
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
      select wanted.feed, chain_id, wanted.numbers as wanted, coalesce(proved, '{}') as proved,
             coalesce(walked.numbers, '{}') * wanted.numbers - coalesce(proved, '{}') as flight,
             case when heads <= ${mostInHead}::bigint then coalesce(new, '{}') else '{}' end as new
      from wanted
      left join read using (feed)
      left join walked using (feed)
    )
    select feed, chain_id, upper(wanted) as ends, lower(wanted) as begins,
           proved - coalesce(places, '{}') as proved, flight,
           proved * coalesce(places, '{}') as held, '{}'::int8multirange as unknown,
           coalesce(new, '{}') - flight as waiting,
           wanted - proved - flight - coalesce(new, '{}') as gap,
           int8multirange(int8range(least(1, lower(wanted)), upper(wanted))) - wanted as unwanted
    from known
    left join etl.quarantined using (feed)
  `;

/** That of a batch's last block. */
const times = sql`
  select asked.feed, asked."from", asked."to", batch_number, blocks.timestamp
  from asked
  join etl.feeds using (feed)
  join explorer.read_batches as batch
    on batch.chain_id = feeds.chain_id and batch_number = asked.height and blocks_count > 0
  join explorer.blocks on blocks.chain_id = batch.chain_id and blocks.height = last_height
  where kind = 'numbered'
`;

/** The walks of its batches, from the lowest on. */
const walks = sql`
  select id, lane, started_at, true as is_there
  from (
    select * from etl.walks
    where walks.feed = asked.feed and batch between asked."from" and asked."to"
    order by batch
    limit ${mostWitnesses}
  ) as walked
`;

/** Numbers of batches, which the chain proves. */
export const ribbon: ListRibbon = { parts, times, walks };
