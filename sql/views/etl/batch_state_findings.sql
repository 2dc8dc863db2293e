create or replace view etl.batch_state_findings as
with target as materialized (
  -- Once, not for each row that it is held against.
  select * from etl.target_batches
), listed as materialized (
  select * from etl.listed_without_blocks
), unread as (
  select chain_id, feed, int8multirange(numbers) - read as missing
  from target
  join etl.covered_batches using (feed)
), unverified as materialized (
  select target.feed, target.numbers, target.settled_to, standing.*
  from target
  join etl.batch_standing as standing
    on standing.chain_id = target.chain_id
    and standing.operation = target.operation
    and batch_number >= lower(target.numbers)
    and batch_number < upper(target.numbers)
    and not is_verified
), below as (
  select * from unverified where batch_number < settled_to
), overdue as (
  -- Up to three batches are the head, which waits for the next one. More wait for something else.
  select chain_id, feed, numbers, settled_to,
         count(*) as batches, min(batch_number) as lowest, max(batch_number) as highest
  from unverified
  where blocks_count > 0 and (settled_to is null or batch_number > settled_to)
  group by chain_id, feed, numbers, settled_to
  having count(*) > 3 or (settled_to is null and count(*) = 3)
), held_up as (
  -- Those that the others wait for.
  select *
  from (
    select unverified.*,
           row_number() over (partition by feed, numbers order by batch_number) as place
    from unverified
    join overdue using (feed, numbers)
    where blocks_count > 0 and batch_number >= lowest
  ) as head
  where place <= 3
), edges as (
  -- Borders between verified batches that nothing edited since were whole when these were verified.
  select chain_id, operation, lower_batch
  from unverified, unnest(array[batch_number, unverified.below]) as lower_batch
  union
  select edited.chain_id, edited.operation, lower_batch
  from etl.edited_batches as edited, unnest(array[batch_number, (
    select max(batch.batch_number) from etl.batch_states as batch
    where batch.chain_id = edited.chain_id
      and batch.operation = edited.operation
      and batch.batch_number < edited.batch_number
      and blocks_count > 0
  )]) as lower_batch
), borders as (
  select border.*
  from edges, lateral (
    select * from etl.border_findings as own
    where own.chain_id = edges.chain_id
      and own.operation = edges.operation
      and own.lower_batch = edges.lower_batch
    -- By the key: a join would look at all borders.
    offset 0
  ) as border
  where is_known
    or exists (
      select from held_up
      where held_up.chain_id = border.chain_id
        and held_up.operation = border.operation
        and held_up.batch_number = upper_batch
    )
), causes as (
  select chain_id, feed, batch_number,
         int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
         unnest(array_remove(array[
           case when orphans > 1 or (orphans = 1 and is_chain)
                then jsonb_build_object('detail', 'without-parents', 'count', orphans) end,
           case when not is_chain and orphans <= 1
                then jsonb_build_object('detail', 'not-linked') end,
           case when pending > 0
                then jsonb_build_object('detail', 'awaits-update', 'count', pending) end,
           case when times_seen > 0 and is_chain and bottom is distinct from first_height
                then jsonb_build_object('detail', 'ends-early') end,
           case when times_seen = 0
                then jsonb_build_object('detail', 'never-read-whole') end
         ], null)) as cause
  from (
    select *, (
      select count(*) from etl.batch_blocks as block
      where block.chain_id = suspect.chain_id
        and block.operation = suspect.operation
        and block.batch_number = suspect.batch_number
        and parent_hash is null
    ) as orphans
    from (
      select chain_id, operation, feed, batch_number, blocks_count, is_chain, pending, times_seen, bottom,
             first_height
      from below
      union
      select chain_id, operation, feed, batch_number, blocks_count, is_chain, pending, times_seen, bottom,
             first_height
      from held_up
    ) as suspect
    where blocks_count > 0
  ) as named
)
select chain_id, feed, '{}'::int8multirange as numbers,
       jsonb_build_object('detail', 'no-batch-found') as finding
from etl.unfound_batches
union all
-- Those above the newest batch have no numbers: polls request them.
select listed.chain_id, feed,
       case when lower(range) <= latest_batch then int8multirange(range) else '{}' end,
       jsonb_build_object(
         'detail', 'listed-without-blocks', 'from', lower(range), 'to', upper(range) - 1
       )
from listed
join etl.feeds using (feed)
union all
select chain_id, feed, int8multirange(range) as numbers,
       jsonb_build_object(
         'detail', 'not-downloaded', 'from', lower(range), 'to', upper(range) - 1
       ) as finding
from unread, unnest(missing) as range
union all
select chain_id, feed, int8multirange(range),
       jsonb_build_object(
         'detail', 'empty-unconfirmed', 'from', lower(range), 'to', upper(range) - 1
       )
from (
  select chain_id, feed, range_agg(int8range(batch_number, batch_number + 1)) as empties
  from unverified
  -- Above the highest batch of the range nothing confirms them.
  where blocks_count = 0 and (batch_number < settled_to or above is null or not above <@ numbers)
    and not exists (
      select from listed where listed.feed = unverified.feed and batch_number <@ range
    )
  group by chain_id, feed
) as suspect, unnest(empties) as range
union all
select chain_id, feed, numbers, cause || jsonb_build_object('from', batch_number, 'to', batch_number)
from causes
union all
select chain_id, feed, numbers, finding from borders
union all
select chain_id, feed,
       int8multirange(int8range(batch_number, batch_number + 1))
         + case when is_contested_below then int8multirange(int8range(suspect.below, suspect.below + 1))
                else '{}' end
         + case when is_contested_above then int8multirange(int8range(above, above + 1)) else '{}' end,
       jsonb_build_object('detail', 'not-verified', 'from', batch_number, 'to', batch_number)
from below as suspect
where blocks_count > 0
  and not exists (
    select from causes
    where causes.feed = suspect.feed and causes.batch_number = suspect.batch_number
  )
  and not exists (select from unread where unread.feed = suspect.feed and not isempty(missing))
  and not exists (
    select from borders
    where borders.feed = suspect.feed
      and suspect.batch_number in (lower_batch, upper_batch)
  )
union all
select chain_id, feed, int8multirange(int8range(lowest, highest + 1)),
       jsonb_build_object(
         'detail', case when settled_to is null then 'head-not-verified' else 'head-too-long' end,
         'from', lowest, 'to', highest, 'count', batches
       )
from overdue;

comment on view etl.batch_state_findings is 'What keeps feeds of batches from being complete by what their walks concluded: what is not read or not verified.';
