create or replace view explorer.optimism_batches as
select batch.*,
       l1_timestamp - (
         select known.timestamp from explorer.time_of_block(chain_id, l2_end_block_number) as known
       ) as l1_delay
from (
  select chain_id, batch_number,
         case when state = 'settled' and is_doubted then 'open' else state end as state,
         blocks_count, first_height, last_height, is_contiguous, is_linked,
         is_verified and not is_doubted as is_verified, walked_at,
         listed.l1_timestamp, listed.transactions_count, listed.l2_start_block_number,
         listed.l2_end_block_number, listed.batch_data_container, listed.removed_at, listed.extra,
         least(batch.first_seen_at, listed.first_seen_at) as first_seen_at,
         greatest(batch.updated_at, listed.updated_at) as updated_at,
         batch.page_id, listed.page_id as listed_page_id
  from explorer.read_batches as batch
  left join explorer.listed_batches as listed using (chain_id, batch_number)
  left join etl.doubted_batches() as doubted on feed = chain_id || '/optimism-batch-blocks'
  cross join lateral (select (batch_number <@ (numbers + held)) is true as is_doubted) as own
  union all
  select chain_id, batch_number, null, null, null, null, null, null, null, null,
         l1_timestamp, transactions_count, l2_start_block_number,
         l2_end_block_number, batch_data_container, removed_at, extra,
         first_seen_at, updated_at, null, page_id
  from explorer.listed_batches as listed
  where not exists (
    select from explorer.read_batches as batch
    where batch.chain_id = listed.chain_id and batch.batch_number = listed.batch_number
  )
) as batch;

comment on view explorer.optimism_batches is 'One row for each Optimism batch that is known: what its blocks verify together (state to walked_at, from optimism-batch-blocks), and what the list of batches reports of it (l1_timestamp to extra, from optimism-batches).';
comment on column explorer.optimism_batches.chain_id is 'Number of the chain.';
comment on column explorer.optimism_batches.batch_number is 'Number of the batch, from 1, with gaps, as in the request''s path.';
comment on column explorer.optimism_batches.state is 'settled: verified whole by the chain: heights contiguous, hashes linked, no block awaits an update, and it meets the nearest batches with blocks on both sides. open: read, and may still change, or explorer.findings has it. empty: its list held no block, which is also the answer for a number that does not exist. Null: blocks not read.';
comment on column explorer.optimism_batches.blocks_count is 'Blocks that carry this batch''s number. Null: blocks not read.';
comment on column explorer.optimism_batches.first_height is 'Lowest of their heights. Null: no blocks read.';
comment on column explorer.optimism_batches.last_height is 'Highest of their heights. Null: no blocks read.';
comment on column explorer.optimism_batches.is_contiguous is 'Whether no height between first_height and last_height is missing. Null: no blocks read.';
comment on column explorer.optimism_batches.is_linked is 'Whether each block''s parent_hash is the hash of the block below it in the batch. Null: no blocks read.';
comment on column explorer.optimism_batches.is_verified is 'Whether the chain verifies what the row says: the batch is settled, or it is empty and the nearest batches with blocks on both sides meet in height and hash; and explorer.findings has no open finding of it. What is verified is not read again. Null: blocks not read.';
comment on column explorer.optimism_batches.walked_at is 'When the walk ended that last changed this row or first recorded it, by the database''s clock. Null: blocks not read.';
comment on column explorer.optimism_batches.l1_timestamp is 'When the batch was posted to L1, UTC; API field l1_timestamp. Null: not reported.';
comment on column explorer.optimism_batches.transactions_count is 'Transactions of the batch, of the blocks that the explorer has indexed by now. Null: not reported.';
comment on column explorer.optimism_batches.l2_start_block_number is 'First L2 block of the batch, as it was posted to L1. first_height is what the explorer serves. Null: not reported.';
comment on column explorer.optimism_batches.l2_end_block_number is 'Last L2 block of the batch, as it was posted to L1. Null: not reported.';
comment on column explorer.optimism_batches.batch_data_container is 'Where the batch''s data is: in_blob4844, in_celestia, in_eigenda, in_alt_da, in_calldata, or a new value. Null: not reported.';
comment on column explorer.optimism_batches.removed_at is 'When pages showed that the item has left its list. Null: it is listed, as far as was read since.';
comment on column explorer.optimism_batches.extra is 'Fields of the item that no column or child table holds, as served, and values of another type or format under their field''s name and what is off (fee (malformed)). Null: none.';
comment on column explorer.optimism_batches.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.optimism_batches.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.optimism_batches.page_id is 'Page that last changed what its blocks verify: explorer.provenance.page_id. Null: blocks not read.';
comment on column explorer.optimism_batches.listed_page_id is 'Page that last changed what the list reports. Null: not listed.';
comment on column explorer.optimism_batches.l1_delay is 'From the time of its last block to l1_timestamp. Null: not listed, or no time of that block is known.';
