create or replace function etl.batches_meet(
  of_chain bigint, of_operation text, lower_height bigint, upper_height bigint
) returns boolean
language sql stable
return upper_height = lower_height + 1 and coalesce(
  (
    select hash from etl.batch_blocks
    where chain_id = of_chain and operation = of_operation and height = lower_height
  )
    = (
      select parent_hash from etl.batch_blocks
      where chain_id = of_chain and operation = of_operation and height = upper_height
    ),
  false
);

comment on function etl.batches_meet is 'Whether the block at the upper height stands on the one at the lower: heights follow each other, and the parent hash is the hash below.';
