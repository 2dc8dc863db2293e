create or replace function etl.note_changed_kind() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  sent record;
begin
  -- One by one: a server that holds a part of the operations alone has no blocks to look into.
  for sent in
    select distinct (timestamp at time zone 'UTC')::date as day,
           case when timestamp is null then block_number end as block
    from explorer.user_operations
    where chain_id = new.chain_id and address_hash = new.hash
  loop
    insert into etl.moved_rows (name, chain_id, key, at)
    values (
      'operation_days', new.chain_id,
      coalesce(sent.day, etl.utc_day((
        select known.timestamp from explorer.time_of_block(new.chain_id, sent.block) as known
      )), '-infinity')::text,
      etl.change_time()
    );
  end loop;
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
