create or replace function etl.note_changed_kind() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.moved_rows (name, chain_id, key, at)
  values ('operation_days/senders', new.chain_id, new.hash, etl.change_time());
  return null;
end
$$;

create or replace trigger note_changed_kind
after update on explorer.addresses
for each row when (
  etl.address_kind(old.proxy_type, old.is_contract) is distinct from etl.address_kind(new.proxy_type, new.is_contract)
)
execute function etl.note_changed_kind();

comment on function etl.note_changed_kind is 'Records an address that has become another kind: its days are found when sums are due, for there may be many, and others may be stored meanwhile.';
