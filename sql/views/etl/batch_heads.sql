create or replace view etl.batch_heads as
with asked as materialized (
  select * from etl.asked_batches
)
select asked.feed, batch_number,
       case
         when blocks_count > 0 and not is_chain then 'blocks'
         when pending > 0 then 'update'
         when wants = 'bottom' then 'lowest-blocks'
         else 'next-batch'
       end as waits_for
from asked
join etl.unproved_batches as standing
  on standing.chain_id = asked.chain_id
  and batch_number >= coalesce(settled_to, lower(asked.numbers))
  and batch_number < upper(asked.numbers)
where not exists (
  select from etl.listed_without_blocks as listed
  where listed.feed = asked.feed and batch_number <@ range
);

comment on view etl.batch_heads is 'Batches above the highest settled one of their range, which are read and not verified yet, and what they wait for.';
