create or replace function etl.note_reorg() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into explorer.block_reorgs (
    chain_id, height, old_hash, new_hash, observed_at, page_id, first_seen_at, updated_at
  )
  values (
    new.chain_id, new.height, old.hash, new.hash, clock_timestamp(), new.page_id,
    etl.change_time(), etl.change_time()
  )
  on conflict do nothing;
  return null;
end
$$;

create or replace trigger note_reorg
after update of hash on explorer.blocks
for each row when (old.hash <> new.hash)
execute function etl.note_reorg();

comment on function etl.note_reorg is 'Records every hash that another one replaces at its height, whatever wrote the block.';
