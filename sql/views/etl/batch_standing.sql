create or replace function etl.has_lost_blocks(
  of_chain bigint, of_operation text, lower_number bigint, upper_number bigint
) returns boolean
language sql stable
return exists (
  select from etl.batch_observations
  where chain_id = of_chain
    and operation = of_operation
    and batch_number > lower_number
    and batch_number < upper_number
    and times_seen > 0
    and bottom is not null
);

create or replace view etl.batch_standing as
select *,
       -- It stays confirmed beside unread numbers. The lowest one has no neighbour below: two walks must have seen its
       -- end, and that each number below is empty.
       (
         is_chain and pending = 0 and (top, bottom) = (last_height, first_height)
         and (is_joined_above or state = 'settled' and has_unread_above)
         and (
           is_joined_below
           or state = 'settled' and has_unread_below
           or (below >= floor) is not true
             and times_seen > 1
             and exists (
               select from etl.batch_blocks as block
               where block.chain_id = joined.chain_id
                 and block.operation = joined.operation
                 and block.height = first_height
                 and parent_hash is not null
             )
             and batch_number - floor = (
               select count(*)
               from etl.batch_states as read
               join etl.batch_observations as observation
                 on observation.chain_id = read.chain_id
                 and observation.operation = read.operation
                 and observation.batch_number = read.batch_number
                 and observation.times_seen > 1
                 and observation.bottom is null
               where read.chain_id = joined.chain_id
                 and read.operation = joined.operation
                 and read.batch_number >= floor
                 and read.batch_number < joined.batch_number
             )
         )
       ) is true as is_confirmed,
       -- A lowest one that was seen twice waits for the empty numbers below it.
       (
         not is_verified and floor is not null and above is not null
         and (
           wants = 'bottom' and not (is_lowest and times_seen > 1)
           or blocks_count = 0 and bottom is null and times_seen = 1 and is_lowest
         )
         and not (is_lowest and has_unread_below)
       ) as lacks_end
from (
  select *,
         meets_above and not is_contested_above
           and (times_seen = 0 or top is not distinct from last_height) as is_joined_above,
         meets_below and not is_contested_below
           and (times_seen = 0 or bottom is not distinct from first_height) as is_joined_below,
         not meets_below and (below is null or below < floor) as is_lowest,
         case
           when blocks_count = 0 then 'whole'
           when not is_chain or times_seen = 0 or bottom is distinct from first_height then 'whole'
           when below >= floor and not meets_below then 'whole'
           when pending > 0 or not meets_above or top is distinct from last_height then 'top'
           when is_contested_above then 'top'
           else 'bottom'
         end as wants
  from (
    select batch.chain_id, batch.operation, batch.batch_number, batch.state, batch.is_verified, blocks_count,
           batch.first_height, batch.last_height, (is_contiguous and is_linked) is true as is_chain,
           coalesce(observation.times_seen, 0) as times_seen, observation.top, observation.bottom,
           observation.run_id, target.floor,
           case when target.floor is null then batch.batch_number + 1 else target.ceiling end as ceiling,
           below.batch_number as below, above.batch_number as above,
           etl.batches_meet(batch.chain_id, batch.operation, below.last_height, batch.first_height) is true as meets_below,
           etl.batches_meet(batch.chain_id, batch.operation, batch.last_height, above.first_height) is true as meets_above,
           coalesce(observation_below.times_seen > 0 and observation_below.top is distinct from below.last_height, false)
             or etl.has_lost_blocks(batch.chain_id, batch.operation, below.batch_number, batch.batch_number)
             as is_contested_below,
           coalesce(observation_above.times_seen > 0 and observation_above.bottom is distinct from above.first_height, false)
             or etl.has_lost_blocks(batch.chain_id, batch.operation, batch.batch_number, above.batch_number)
             as is_contested_above,
           coalesce(below.batch_number, target.floor) is not null
             and (int8range(greatest(below.batch_number + 1, target.floor), batch.batch_number) <@ read) is not true
             as has_unread_below,
           (int8range(batch.batch_number + 1, coalesce(above.batch_number, batch.batch_number + 2)) <@ read) is not true
             as has_unread_above,
           (
             select count(*) from etl.batch_blocks as block
             where block.chain_id = batch.chain_id
               and block.operation = batch.operation
               and block.batch_number = batch.batch_number
               and is_pending_update
           ) as pending
    from etl.batch_states as batch
    left join etl.covered_batches as covered
      on covered.feed = batch.chain_id || '/' || batch.operation
    left join etl.batch_observations as observation
      on observation.chain_id = batch.chain_id
      and observation.operation = batch.operation
      and observation.batch_number = batch.batch_number
    left join lateral (
      select lower(range) as floor, upper(range) as ceiling
      from etl.feeds, unnest(target_numbers) as range
      where feeds.chain_id = batch.chain_id
        and feeds.operation = batch.operation
        and batch.batch_number <@ range
    ) as target on true
    left join lateral (
      select other.batch_number, other.last_height
      from etl.batch_states as other
      where other.chain_id = batch.chain_id
        and other.operation = batch.operation
        and other.blocks_count > 0
        and other.batch_number < batch.batch_number
      order by other.batch_number desc
      limit 1
    ) as below on true
    left join lateral (
      select other.batch_number, other.first_height
      from etl.batch_states as other
      where other.chain_id = batch.chain_id
        and other.operation = batch.operation
        and other.blocks_count > 0
        and other.batch_number > batch.batch_number
      order by other.batch_number
      limit 1
    ) as above on true
    left join etl.batch_observations as observation_below
      on observation_below.chain_id = batch.chain_id
      and observation_below.operation = batch.operation
      and observation_below.batch_number = below.batch_number
    left join etl.batch_observations as observation_above
      on observation_above.chain_id = batch.chain_id
      and observation_above.operation = batch.operation
      and observation_above.batch_number = above.batch_number
  ) as standing
) as joined;

comment on function etl.has_lost_blocks is 'Whether a number between two batches, which has no blocks, was last seen with blocks: another one has taken them, and one of both is wrong until they are read again.';
comment on view etl.batch_standing is 'Each number that was read, whether it meets its neighbours, and what a walk is to read of it if it is not verified: the whole, the top down to what is known, or the bottom page. is_confirmed: it is a chain without pending blocks, its list was seen to begin and end so, and both neighbours meet it. lacks_end: only its end is to be read again.';
