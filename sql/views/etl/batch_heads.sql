create or replace view etl.batch_heads as
with target as materialized (
  select * from etl.target_batches
)
select target.feed, batch_number, blocks_count,
       case
         -- Nothing above confirms an empty number that was taken for a batch.
         when blocks_count = 0 and (above is null or not above <@ target.numbers) or has_known_border then null
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
cross join lateral (
  select exists (
    select from etl.border_findings as border
    where border.chain_id = standing.chain_id
      and border.operation = standing.operation
      and lower_batch in (batch_number, below)
      and is_known
  ) as has_known_border
) as bordered
where not is_verified and not exists (
  select from etl.listed_without_blocks as listed
  where listed.feed = target.feed and batch_number <@ range
);

comment on view etl.batch_heads is 'Batches above the highest settled one of their range, which are read and not verified yet, and what they wait for; null: nothing, as etl.batch_state_findings says.';
