create or replace view etl.known_batch_findings as
select chain_id, feed, numbers, finding from etl.batch_state_findings
union all
select found.chain_id, feed, numbers, finding
from (select distinct chain_id, operation, batch_number from etl.edited_batches) as edited, lateral (
  select * from etl.block_findings as own
  where own.chain_id = edited.chain_id
    and own.operation = edited.operation
    and own.batch_number = edited.batch_number
  -- By the key: a join would count the blocks of all batches.
  offset 0
) as found;

create or replace view etl.batch_findings as
select chain_id, feed, numbers, finding from etl.known_batch_findings
union
select chain_id, feed, numbers, finding from etl.block_findings
union
select chain_id, feed, numbers, finding from etl.border_findings where is_known;

comment on view etl.known_batch_findings is 'What keeps feeds of batches from being complete, by what their walks concluded and by what was edited since: the cost is bounded.';
comment on view etl.batch_findings is 'Each thing that keeps a feed of batches from being complete: what is known, and what every block and border shows again.';
