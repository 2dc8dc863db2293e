create or replace view etl.asked_batches as
select chain_id, feed, numbers,
       (
         select batch_number
         from explorer.read_batches as batch
         where batch.chain_id = asked.chain_id
           and batch_number >= lower(numbers)
           and batch_number < upper(numbers)
           and state = 'settled'
         order by batch_number desc
         limit 1
       ) as settled_to
from (
  select chain_id, feed,
         case when upper_inf(range) then int8range(lower(range), frontier + 1) else range end as numbers
  from etl.feeds, unnest(asked) as range
  where not upper_inf(range) or frontier >= lower(range)
) as asked;

comment on view etl.asked_batches is 'Per feed of Optimism batches, the ranges of numbers that were requested and exist by now, and the highest settled batch of each.';
