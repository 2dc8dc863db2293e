create or replace function etl.note_changed_kind() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.moved_rows (name, chain_id, key, at)
  select 'operation_days', new.chain_id, coalesce(day, '-infinity')::text, etl.change_time()
  from (
    select distinct etl.utc_day(coalesce(timestamp, (
      select known.timestamp from explorer.time_of_block(new.chain_id, block_number) as known
    ))) as day
    from explorer.user_operations
    where chain_id = new.chain_id and address_hash = new.hash
  ) as sent;
  return null;
end
$$;

create or replace trigger note_changed_kind
after update on explorer.addresses
for each row when (
  etl.address_kind(old.proxy_type, old.is_contract) is distinct from etl.address_kind(new.proxy_type, new.is_contract)
)
execute function etl.note_changed_kind();

comment on function etl.note_changed_kind is 'Records the days whose operations by kind of sender change, because an address has become another kind.';
