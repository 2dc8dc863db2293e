create or replace function explorer.time_of_block(
  of_chain bigint, of_block bigint
) returns table ("timestamp" timestamptz, source text)
language plpgsql stable parallel safe rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  return query
  select timestamp, 'block' from explorer.blocks
  where chain_id = of_chain and height = of_block and timestamp is not null;
  if found then
    return;
  end if;
  return query
  select min(timestamp), 'sibling' from explorer.user_operations
  where chain_id = of_chain and block_number = of_block and timestamp is not null and removed_at is null
  having count(*) > 0;
end
$$;

comment on function explorer.time_of_block is 'Time of a block by what else is stored of it: the block itself, or another operation in it.';
