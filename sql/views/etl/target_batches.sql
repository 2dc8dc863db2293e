create or replace view etl.target_batches as
select chain_id, operation, feed, numbers,
       (
         select batch_number
         from etl.batch_states as batch
         where batch.chain_id = target.chain_id
           and batch.operation = target.operation
           and batch_number >= lower(numbers)
           and batch_number < upper(numbers)
           and state = 'settled'
         order by batch_number desc
         limit 1
       ) as settled_to
from (
  select chain_id, operation, feed,
         case when upper_inf(range) then int8range(lower(range), latest_batch + 1) else range end as numbers
  from etl.feeds, unnest(target_numbers) as range
  where not upper_inf(range) or latest_batch >= lower(range)
) as target;

comment on view etl.target_batches is 'Per feed of a numbered list, the ranges of numbers that were requested and exist by now, and the highest settled batch of each.';
