create or replace function etl.note_moved_operation() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.moved_rows (name, chain_id, key, at)
  select 'operation_days', old.chain_id, coalesce(etl.utc_day(
    coalesce(old.timestamp, (
      select known.timestamp from explorer.time_of_block(old.chain_id, old.block_number) as known
    ))
  ), '-infinity')::text, etl.change_time()
  union all
  select 'sender_sums', old.chain_id, old.address_hash, etl.change_time()
  where old.address_hash is distinct from new.address_hash and old.address_hash is not null
  union all
  -- The operations of its block that report no time had its time.
  select 'sender_sums/blocks', old.chain_id, old.block_number::text, etl.change_time()
  where old.timestamp is not null and old.block_number is not null;
  return null;
end
$$;

create or replace trigger note_moved_operation
after update on explorer.user_operations
for each row when (
  (old.timestamp at time zone 'UTC')::date is distinct from (new.timestamp at time zone 'UTC')::date
  or old.block_number is distinct from new.block_number
  or old.address_hash is distinct from new.address_hash
)
execute function etl.note_moved_operation();

comment on function etl.note_moved_operation is 'Records the day and sender that an operation was counted under before it changed, whatever wrote it. Citus takes no trigger on a table that it distributes: there an operation that moves further than to the next day leaves its day when all is recomputed.';
