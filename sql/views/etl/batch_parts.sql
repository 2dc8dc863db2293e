create or replace view etl.batch_parts as
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
), head as (
  select feed, count(*) filter (where blocks_count > 0) as heads,
         range_agg(int8range(batch_number, batch_number + 1)) filter (where waits_for is not null) as new
  from etl.batch_heads
  group by feed
), walked as (
  select walks.feed, range_agg(int8range(batch, batch + 1)) as numbers
  from etl.walks
  join etl.runs on runs.id = walks.run_id and runs.state = 'open'
  where walks.state = 'running' and walks.kind = 'numbered' and batch is not null
  group by walks.feed
), known as (
  select wanted.feed, wanted.numbers as wanted, verified * wanted.numbers as verified, held,
         coalesce(walked.numbers, '{}') * wanted.numbers - verified as reading,
         -- More never wait for what is to come alone: see etl.batch_state_findings.
         case when heads <= 3 and new is not null then new else '{}' end as new
  from wanted
  join etl.complete_batches using (feed)
  left join head using (feed)
  left join walked using (feed)
)
select feed, lower(wanted) as begins, upper(wanted) as ends,
       verified - held as verified, wanted - verified - reading - new as gap,
       verified * held as quarantined, reading, new - reading as unverified,
       '{}'::int8multirange as unknown,
       int8multirange(int8range(least(1, lower(wanted)), upper(wanted))) - wanted as out_of_range
from known;

comment on view etl.batch_parts is 'The parts of each numbered list, as etl.coverage_parts has them.';
