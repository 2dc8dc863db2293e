create or replace function etl.note_moved_block() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.moved_rows (name, chain_id, key, at)
  -- The operations of a block that report no time have that of the block.
  select unnest(array['block_days', 'operation_days']), old.chain_id, etl.utc_day(old.timestamp)::text,
         etl.change_time()
  where old.timestamp is distinct from new.timestamp and old.timestamp is not null
  union all
  select 'batch_sums', old.chain_id, old.optimism_batch_number::text, etl.change_time()
  where old.optimism_batch_number is distinct from new.optimism_batch_number
    and old.optimism_batch_number is not null;
  return null;
end
$$;

create or replace trigger note_moved_block
after update on explorer.blocks
for each row when (
  old.timestamp is distinct from new.timestamp
  or old.optimism_batch_number is distinct from new.optimism_batch_number
)
execute function etl.note_moved_block();

comment on function etl.note_moved_block is 'Records the day and batch that a block was counted under before it changed, whatever wrote it.';
