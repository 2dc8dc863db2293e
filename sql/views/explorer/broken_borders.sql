create or replace view explorer.broken_borders as
with numbered as (
  select chain_id, operation, batch_number, blocks_count, first_height, last_height,
         row_number() over (partition by chain_id, operation order by batch_number) as place
  from etl.batch_states
), bordered as (
  select chain_id, operation, batch_number as lower_batch, last_height, place,
         lead(batch_number) over below as upper_batch,
         lead(first_height) over below as first_height,
         lead(place) over below as upper_place
  from numbered
  where blocks_count > 0
  window below as (partition by chain_id, operation order by batch_number)
)
select bordered.chain_id, lower_batch, upper_batch, last_height, first_height,
       last_block.hash as last_hash, first_block.parent_hash, bordered.operation
from bordered
left join etl.batch_blocks as last_block
  on last_block.chain_id = bordered.chain_id
  and last_block.operation = bordered.operation
  and last_block.height = last_height
left join etl.batch_blocks as first_block
  on first_block.chain_id = bordered.chain_id
  and first_block.operation = bordered.operation
  and first_block.height = first_height
where upper_batch - lower_batch = upper_place - place
  and (first_height = last_height + 1 and last_block.hash = first_block.parent_hash) is not true;

comment on view explorer.broken_borders is 'Neighbouring batches of a chain, all numbers between them read, whose heights or hashes do not meet.';
comment on column explorer.broken_borders.chain_id is 'Number of the chain.';
comment on column explorer.broken_borders.lower_batch is 'The batch below the border.';
comment on column explorer.broken_borders.upper_batch is 'The next batch above it that has blocks.';
comment on column explorer.broken_borders.last_height is 'Highest block of the lower batch.';
comment on column explorer.broken_borders.first_height is 'Lowest block of the upper batch.';
comment on column explorer.broken_borders.last_hash is 'Hash of the lower batch''s highest block.';
comment on column explorer.broken_borders.parent_hash is 'Parent hash of the upper batch''s lowest block.';
comment on column explorer.broken_borders.operation is 'Name of the operation that reads the batches.';
