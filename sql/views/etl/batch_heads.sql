create or replace view etl.batch_heads as
with target as materialized (
  select * from etl.target_batches
)
select target.feed, batch_number,
       case
         when blocks_count > 0 and not is_chain then 'blocks'
         when pending > 0 then 'update'
         when wants = 'bottom' then 'lowest-blocks'
         else 'next-batch'
       end as waits_for
from target
join etl.batch_standing as standing
  on standing.chain_id = target.chain_id
  and standing.operation = target.operation
  and batch_number >= coalesce(settled_to, lower(target.numbers))
  and batch_number < upper(target.numbers)
where not is_verified and not exists (
  select from etl.listed_without_blocks as listed
  where listed.feed = target.feed and batch_number <@ range
);

comment on view etl.batch_heads is 'Batches above the highest settled one of their range, which are read and not verified yet, and what they wait for.';
