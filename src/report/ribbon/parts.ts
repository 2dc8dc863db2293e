import { sql, type SQL } from 'drizzle-orm';

/**
 * What is known of a part of a list. `proved`: nothing is missing. `gap`: wanted, and missing or doubtful.
 * `held`: proved but for an item that stands in quarantine. `flight`: a walk is under way there. `waiting`:
 * read, and proved by what is to come. `unknown`: below all that was ever read, where nobody knows whether the
 * list goes on. `unwanted`: not asked for.
 */
export type PartState = 'proved' | 'gap' | 'held' | 'flight' | 'waiting' | 'unknown' | 'unwanted';

/** More batches with blocks than these never wait for what is to come alone (`etl.batch_state_findings`). */
const mostInHead = 3;

/**
 * As SQL: `feed`, `chain_id`, `begins`, `ends` and a multirange for each state. No two of a feed's overlap, and
 * all of them together are what lies below `ends`. It rests on the coverage that is kept and on walks under way.
 */
export const parts = sql`
  select feed, chain_id, begins, ends, proved, gap, held, flight, waiting, unknown, unwanted
  from (${newestFirst()}) as newest_first
  union all
  select feed, chain_id, begins, ends, proved, gap, '{}', flight, waiting, '{}', unwanted
  from (${numbered()}) as numbered
`;

/** Blocks, or batches of a list that is ordered by their numbers. */
function newestFirst(): SQL {
  return sql`
    with known as materialized (
      select feeds.feed, chain_id, highest as ends,
             coalesce(covered, '{}') as covered,
             (select height from etl.item_above(chain_id, operation, 0)) as lowest_item,
             coalesce((
               select range_agg(gap) from etl.feed_gaps where feed_gaps.feed = feeds.feed
             ), '{}') as missing,
             coalesce((
               select range_agg(int8range(coalesce(from_block, 0), to_block, '[]'))
               from etl.quarantine
               where quarantine.feed = feeds.feed and dropped_at is null and to_block is not null
             ), '{}') as held,
             coalesce((
               select range_agg(int8range(least(coalesce(floor, bottom), bottom), top, '[]'))
               from etl.walks
               join etl.runs on runs.id = walks.run_id and runs.state = 'open'
               where walks.feed = feeds.feed and walks.state = 'running' and bottom <= top
             ), '{}') as under_way,
             exists (
               select from etl.walks
               where walks.feed = feeds.feed and state = 'finished' and reason is null
             ) as is_end_known
      from etl.feeds
      join etl.feed_coverage using (feed)
    ), divided as (
      select *, covered - held as proved, covered * held as held_up,
             int8multirange(int8range(0, ends)) as whole,
             under_way * int8multirange(int8range(0, ends)) - covered as flight
      from known
      where ends > 0
    ), missed as (
      select *, missing - flight as left_out,
             -- Where nothing was ever read, no one knows whether there is something to miss.
             case when not is_end_known and missing @> 0::bigint
                  then int8multirange(int8range(0, coalesce(lowest_item, ends - 1), '[]')) else '{}' end
               as never_seen
      from divided
    )
    select feed, chain_id, ends, proved, held_up as held, flight, '{}'::int8multirange as waiting,
           left_out - never_seen as gap, left_out * never_seen as unknown,
           whole - covered - flight - missing as unwanted,
           coalesce(
             nullif(lower(covered + flight + (left_out - never_seen)), 0),
             lowest_item,
             0
           ) as begins
    from missed
  `;
}

/** Numbers of batches, which the chain proves. */
function numbered(): SQL {
  return sql`
    with asked as materialized (
      select * from etl.asked_batches
    ), wanted as (
      select feed, chain_id, range_agg(numbers) as numbers from asked group by feed, chain_id
    ), read as (
      select feed,
             range_agg(number) filter (where is_proved) as proved,
             range_agg(number) filter (where is_new) as new,
             count(*) filter (where is_new and blocks_count > 0) as heads
      from (
        select asked.feed, blocks_count, is_proved,
               int8range(batch_number, batch_number + 1) as number,
               not is_proved and batch_number > coalesce(settled_to, 0) as is_new
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
    select feed, chain_id, upper(wanted) as ends, lower(wanted) as begins, proved, flight,
           coalesce(new, '{}') - flight as waiting,
           wanted - proved - flight - coalesce(new, '{}') as gap,
           int8multirange(int8range(0, upper(wanted))) - wanted as unwanted
    from known
  `;
}
