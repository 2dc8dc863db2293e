create or replace view etl.block_findings as
select batch.chain_id, feeds.feed, int8multirange(int8range(batch.batch_number, batch.batch_number + 1)) as numbers,
       finding || jsonb_build_object('from', batch.batch_number, 'to', batch.batch_number) as finding,
       batch.operation, batch.batch_number
from etl.batch_states as batch
join etl.feeds on feeds.chain_id = batch.chain_id and feeds.operation = batch.operation
left join etl.batch_listings as listed
  on listed.chain_id = batch.chain_id
  and listed.operation = batch.operation
  and listed.batch_number = batch.batch_number
-- Borders of batches are explorer.broken_borders.
cross join lateral etl.count_blocks(batch.chain_id, batch.operation, batch.batch_number) as counted
cross join lateral (
  select case
    when blocks <> blocks_count
      then jsonb_build_object(
        'detail', 'block-count-differs', 'count', blocks, 'downloaded', blocks_count
      )
    when (lowest, highest) is distinct from (batch.first_height, batch.last_height)
      then jsonb_build_object(
        'detail', 'block-range-differs',
        'stored', case when lowest is not null then jsonb_build_array(lowest, highest) end,
        'read', case when batch.first_height is not null
                  then jsonb_build_array(batch.first_height, batch.last_height) end
      )
    when unlinked > 0
      then jsonb_build_object('detail', 'verified-not-linked', 'count', unlinked)
    when pending > 0
      then jsonb_build_object('detail', 'verified-awaits-update', 'count', pending)
    -- The list says what was posted to L1: it verifies nothing, but contradicts what the blocks do.
    when blocks_count > 0
      and (batch.first_height, batch.last_height) <> (listed.first_height, listed.last_height)
      then jsonb_build_object(
        'detail', 'listed-range-differs',
        'read', jsonb_build_array(batch.first_height, batch.last_height),
        'listed', jsonb_build_array(listed.first_height, listed.last_height)
      )
    when blocks_count = 0 and listed.last_height >= listed.first_height
      then jsonb_build_object(
        'detail', 'listed-not-empty',
        'listed', jsonb_build_array(listed.first_height, listed.last_height)
      )
  end as finding
) as found
where is_verified and finding is not null;

comment on view etl.block_findings is 'Verified batches whose blocks, counted and linked again, are not what was read, or not what the list of batches says.';
