create or replace view etl.listed_without_blocks as
select chain_id, operation, feed, range
from (
  select chain_id, operation, feed, range_agg(int8range(batch_number, batch_number + 1)) as numbers
  from (
    -- Above the newest batch with blocks, whether they were requested or not.
    select feeds.chain_id, feeds.operation, feed, batch_number
    from etl.feeds
    join etl.batch_listings as listed
      on listed.chain_id = feeds.chain_id
      and listed.operation = feeds.operation
      and batch_number > coalesce(latest_batch, -1)
    left join etl.listing_heads as head
      on head.chain_id = feeds.chain_id
      and head.operation = feeds.operation
    where kind = 'numbered'
      and (batch_number > highest) is not true
      and batch_number >= (
        select lower(range) from unnest(target_numbers) as range where upper_inf(range)
      )
      and not exists (
        select from etl.batch_states as batch
        where batch.chain_id = listed.chain_id
          and batch.operation = listed.operation
          and batch.batch_number = listed.batch_number
          and blocks_count > 0
      )
    union
    -- Below it, those that were read as empty.
    select target.chain_id, target.operation, feed, batch.batch_number
    from etl.target_batches as target
    join etl.batch_states as batch
      on batch.chain_id = target.chain_id
      and batch.operation = target.operation
      and batch.batch_number >= greatest(lower(numbers), settled_to + 1)
      and batch.batch_number < upper(numbers)
    join etl.batch_listings as listed
      on listed.chain_id = batch.chain_id
      and listed.operation = batch.operation
      and listed.batch_number = batch.batch_number
    where not is_verified and blocks_count = 0
  ) as listed
  group by chain_id, operation, feed
) as listed, unnest(numbers) as range;

comment on view etl.listed_without_blocks is 'Per feed of a numbered list, the ranges of numbers above its highest settled one that another list has and whose blocks are missing: the service lists them before it has their blocks, or has lost those.';
