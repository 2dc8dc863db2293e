create or replace view etl.border_findings as
select border.chain_id, feed,
       int8multirange(
         int8range(lower_batch, lower_batch + 1), int8range(upper_batch, upper_batch + 1)
       ) as numbers,
       jsonb_build_object(
         'detail', 'border-not-linked', 'from', lower_batch, 'to', upper_batch
       ) as finding,
       border.operation, lower_batch, upper_batch, settled_to
from explorer.broken_borders as border
join etl.target_batches as target
  on target.chain_id = border.chain_id
  and target.operation = border.operation
  and lower_batch <@ target.numbers;

comment on view etl.border_findings is 'Broken borders of the batches that were requested. Those above settled_to may still change.';
