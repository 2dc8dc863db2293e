create or replace view etl.block_findings as
with linked as (
  select chain_id, height, optimism_batch_number as batch_number, is_pending_update,
         -- Borders of batches are explorer.broken_borders.
         lag(height) over chain = height - 1
           and lag(optimism_batch_number) over chain = optimism_batch_number
           and lag(hash) over chain is distinct from parent_hash as is_broken
  from explorer.blocks
  window chain as (partition by chain_id order by height)
), counted as (
  select chain_id, batch_number, count(*) as blocks, min(height) as lowest, max(height) as highest,
         count(*) filter (where is_broken) as broken,
         count(*) filter (where is_pending_update) as pending
  from linked
  where batch_number is not null
  group by chain_id, batch_number
), found as (
  select batch.chain_id, batch.batch_number,
         case
           when coalesce(blocks, 0) <> blocks_count
             then jsonb_build_object(
               'detail', 'block-count-differs',
               'count', coalesce(blocks, 0), 'downloaded', blocks_count
             )
           when (lowest, highest) is distinct from (first_height, last_height)
             then jsonb_build_object(
               'detail', 'block-range-differs',
               'stored', case when lowest is not null then jsonb_build_array(lowest, highest) end,
               'read', case when first_height is not null
                         then jsonb_build_array(first_height, last_height) end
             )
           when broken > 0
             then jsonb_build_object('detail', 'verified-not-linked', 'count', broken)
           when pending > 0
             then jsonb_build_object('detail', 'verified-awaits-update', 'count', pending)
           -- The list says what was posted to L1: it verifies nothing, but contradicts what the blocks do.
           when blocks_count > 0
             and (first_height, last_height) <> (l2_start_block_number, l2_end_block_number)
             then jsonb_build_object(
               'detail', 'listed-range-differs',
               'read', jsonb_build_array(first_height, last_height),
               'listed', jsonb_build_array(l2_start_block_number, l2_end_block_number)
             )
           when blocks_count = 0 and l2_end_block_number >= l2_start_block_number
             then jsonb_build_object(
               'detail', 'listed-not-empty',
               'listed', jsonb_build_array(l2_start_block_number, l2_end_block_number)
             )
         end as finding
  from explorer.read_batches as batch
  left join counted
    on counted.chain_id = batch.chain_id and counted.batch_number = batch.batch_number
  left join explorer.listed_batches as listed
    on listed.chain_id = batch.chain_id
    and listed.batch_number = batch.batch_number
    and listed.removed_at is null
  where is_verified
)
select found.chain_id, feeds.feed,
       int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
       finding || jsonb_build_object('from', batch_number, 'to', batch_number) as finding
from found
join etl.feeds on feeds.chain_id = found.chain_id and feeds.kind = 'numbered'
where finding is not null;

comment on view etl.block_findings is 'Verified batches whose blocks, counted and linked again, are not what was read, or not what the list of batches says.';
