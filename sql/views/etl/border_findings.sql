create or replace function etl.is_border_read(
  of_chain bigint, of_operation text, lower_number bigint, upper_number bigint
) returns boolean
language sql stable
return exists (
  select from etl.batch_observations as lower, etl.batch_observations as upper
  where (lower.chain_id, lower.operation, lower.batch_number) = (of_chain, of_operation, lower_number)
    and (upper.chain_id, upper.operation, upper.batch_number) = (of_chain, of_operation, upper_number)
    and lower.times_seen > 0
    and upper.times_seen > 0
    and (lower.walk_id > upper.walk_id or upper.times_seen > 1)
);

create or replace view etl.border_findings as
select border.chain_id, feed,
       int8multirange(
         int8range(lower_batch, lower_batch + 1), int8range(upper_batch, upper_batch + 1)
       ) as numbers,
       jsonb_build_object(
         'detail', 'border-not-linked',
         'from', lower_batch,
         -- Above the newest known batch nothing is wanted yet.
         'to', least(upper_batch, upper(numbers) - 1)
       ) as finding,
       border.operation, lower_batch, upper_batch, settled_to,
       coalesce(upper_batch <= settled_to, false)
         or etl.is_border_read(border.chain_id, border.operation, lower_batch, upper_batch)
           -- Of many that do not meet, those that the others wait for.
           and 2 >= (
             select count(*)
             from (
               select from etl.batch_states as head
               where head.chain_id = border.chain_id
                 and head.operation = border.operation
                 and batch_number > coalesce(settled_to, lower(numbers) - 1)
                 and batch_number < upper_batch
                 and blocks_count > 0
               limit 3
             ) as below
           ) as is_known
from explorer.broken_borders as border
join etl.target_batches as target
  on target.chain_id = border.chain_id
  and target.operation = border.operation
  and lower_batch <@ target.numbers;

comment on function etl.is_border_read is 'Whether both batches of a border were read to their ends, the lower one once the upper was there: the next batch does not change what they show.';
comment on view etl.border_findings is 'Broken borders of the batches that were requested. Those that are not is_known may still change: a batch fills up, or was read before the one above was there.';
