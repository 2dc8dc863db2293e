create or replace function etl.batch_counts() returns table (
  feed text, requested numeric, verified numeric, unread numeric, waiting bigint, unverified numeric,
  without_blocks bigint, quarantined numeric, gaps numeric
)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  -- As in etl.doubted_batches.
  if not exists (select from etl.feeds where kind = 'numbered') then
    return;
  end if;
  return query
  with number as (
    select feed, sum(requested) as requested, sum(etl.width(read)) as read,
           sum(etl.width(read - verified - places)) as unverified,
           sum(etl.width(read * places)) as quarantined, sum(listed) as without_blocks,
           sum((select count(*) from unnest(unread))) as gaps
    from (
      select feed, upper(numbers) - lower(numbers) as requested, 0 as listed,
             read * int8multirange(numbers) as read, verified, held as places,
             int8multirange(numbers) - read as unread
      from etl.target_batches
      join etl.complete_batches using (feed)
      union all
      select feed, 1, 1, '{}', '{}', '{}', '{}'
      from etl.listed_without_blocks
      join etl.feeds using (chain_id, operation, feed), lateral (
        -- Those that no poll requested yet are only new. Below the newest batch they are counted as read.
        select from etl.batch_states as batch
        where batch.chain_id = feeds.chain_id
          and batch.operation = feeds.operation
          and batch.batch_number >= greatest(lower(range), latest_batch + 1)
          and batch.batch_number < upper(range)
          and blocks_count = 0
        -- By the key, range by range: a join would read all batches for the few that are empty.
        offset 0
      ) as empty
    ) as part
    group by feed
  ), head as (
    select heads.feed,
           count(waits_for) filter (where (heads.batch_number <@ places) is not true) as numbers,
           count(*) filter (where blocks_count > 0) as batches
    from etl.batch_heads as heads
    left join etl.quarantined as held on held.feed = heads.feed
    group by heads.feed
  )
  select feed, requested,
         read - unverified - quarantined as verified,
         requested - without_blocks - read as unread,
         waiting,
         unverified - waiting as unverified,
         without_blocks, quarantined, gaps
  from number
  left join head using (feed), lateral (
    -- More batches with blocks wait for something else: see etl.batch_state_findings.
    select case when head.batches <= 3 then head.numbers else 0 end as waiting
  ) as own;
end
$$;

comment on function etl.batch_counts is 'Per feed of a numbered list, the batches in its target that exist by now: verified, not read (and in how many ranges), waiting for what is to come, not verified though nothing is to come, listed without blocks, and those that hold an item in quarantine.';
