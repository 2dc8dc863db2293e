create or replace view etl.batch_notes as
select target.feed,
       jsonb_build_object(
         'detail', case when batch_number > lower(numbers) then 'lower-edge-above-empty' else 'lower-edge' end,
         'from', batch_number, 'to', batch_number,
         'count', batch_number - lower(numbers)
       ) as note
from etl.target_batches as target, lateral (
  select batch_number, first_height, state
  from etl.batch_states as batch
  where batch.chain_id = target.chain_id
    and batch.operation = target.operation
    and batch_number >= lower(numbers)
    and batch_number < upper(numbers)
    and blocks_count > 0
  order by batch_number
  limit 1
) as lowest
where state = 'settled'
  -- Nothing is below block 0, and no cursor leads to it.
  and first_height > 1
  and not exists (
    select from etl.batch_states as below
    where below.chain_id = target.chain_id
      and below.operation = target.operation
      and below.batch_number < lowest.batch_number
      and below.blocks_count > 0
      and etl.batches_meet(target.chain_id, target.operation, below.last_height, lowest.first_height)
  );

comment on view etl.batch_notes is 'What limits the completeness of batches: the lowest of a range has no neighbour below that confirms where it begins.';
