create or replace view explorer.broken_borders as
select lower.chain_id, lower.batch_number as lower_batch, upper.batch_number as upper_batch,
       lower.last_height, upper.first_height, last_block.hash as last_hash, first_block.parent_hash,
       lower.operation
from etl.batch_states as lower
cross join lateral (
  select batch_number, first_height
  from etl.batch_states as next
  where next.chain_id = lower.chain_id
    and next.operation = lower.operation
    and next.batch_number > lower.batch_number
    and next.blocks_count > 0
  order by next.batch_number
  limit 1
) as upper
left join etl.batch_blocks as last_block
  on last_block.chain_id = lower.chain_id
  and last_block.operation = lower.operation
  and last_block.height = lower.last_height
left join etl.batch_blocks as first_block
  on first_block.chain_id = lower.chain_id
  and first_block.operation = lower.operation
  and first_block.height = upper.first_height
where lower.blocks_count > 0
  and (upper.first_height = lower.last_height + 1 and last_block.hash = first_block.parent_hash) is not true
  and upper.batch_number - lower.batch_number - 1 = (
    select count(*) from etl.batch_states as between_them
    where between_them.chain_id = lower.chain_id
      and between_them.operation = lower.operation
      and between_them.batch_number > lower.batch_number
      and between_them.batch_number < upper.batch_number
  );

comment on view explorer.broken_borders is 'Neighbouring batches of a chain, all numbers between them read, whose heights or hashes do not meet.';
comment on column explorer.broken_borders.chain_id is 'Number of the chain.';
comment on column explorer.broken_borders.lower_batch is 'The batch below the border.';
comment on column explorer.broken_borders.upper_batch is 'The next batch above it that has blocks.';
comment on column explorer.broken_borders.last_height is 'Highest block of the lower batch.';
comment on column explorer.broken_borders.first_height is 'Lowest block of the upper batch.';
comment on column explorer.broken_borders.last_hash is 'Hash of the lower batch''s highest block.';
comment on column explorer.broken_borders.parent_hash is 'Parent hash of the upper batch''s lowest block.';
comment on column explorer.broken_borders.operation is 'Name of the operation.';
