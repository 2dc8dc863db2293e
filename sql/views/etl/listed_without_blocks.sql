create or replace view etl.listed_without_blocks as
select chain_id, feed, range
from (
  select chain_id, feed, range_agg(int8range(batch_number, batch_number + 1)) as numbers
  from (
    -- Above the newest batch with blocks, whether they were requested or not.
    select feeds.chain_id, feed, batch_number
    from etl.feeds
    join explorer.listed_batches as listed
      on listed.chain_id = feeds.chain_id and batch_number > coalesce(latest_batch, -1)
    where kind = 'numbered'
      and batch_number >= (
        select lower(range) from unnest(target_numbers) as range where upper_inf(range)
      )
      and removed_at is null
      and not exists (
        select from explorer.read_batches as batch
        where batch.chain_id = listed.chain_id
          and batch.batch_number = listed.batch_number
          and blocks_count > 0
      )
    union
    -- Below it, those that were read as empty.
    select target.chain_id, feed, batch.batch_number
    from etl.target_batches as target
    join explorer.read_batches as batch
      on batch.chain_id = target.chain_id
      and batch.batch_number >= greatest(lower(numbers), settled_to + 1)
      and batch.batch_number < upper(numbers)
    join explorer.listed_batches as listed
      on listed.chain_id = batch.chain_id and listed.batch_number = batch.batch_number
    where not is_verified and blocks_count = 0 and removed_at is null
  ) as listed
  group by chain_id, feed
) as listed, unnest(numbers) as range;

comment on view etl.listed_without_blocks is 'Per feed of Optimism batches, the ranges of numbers above its highest settled batch that the list of batches has and whose blocks are missing: the service lists them before it has their blocks, or has lost those.';
