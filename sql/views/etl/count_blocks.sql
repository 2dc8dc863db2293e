create or replace function etl.count_blocks(of_chain bigint, of_operation text, number bigint)
returns table (blocks bigint, lowest bigint, highest bigint, unlinked bigint, pending bigint)
language sql stable
begin atomic
  select count(*), min(height), max(height), count(*) filter (where hash_below is distinct from parent_hash),
         count(*) filter (where is_pending_update)
  from (
    select height, is_pending_update, parent_hash,
           lag(hash, 1, parent_hash) over (order by height) as hash_below
    from etl.batch_blocks as block
    where block.chain_id = of_chain and block.operation = of_operation and block.batch_number = number
  ) as linked;
end;

comment on function etl.count_blocks is 'How many blocks a batch has, from which height to which, how many of them do not have the hash of the block below them in the batch as their parent''s, and how many the service will update.';
