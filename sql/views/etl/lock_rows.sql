create or replace function etl.lock_rows(of_table regclass, keys jsonb) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  key jsonb;
begin
  for key in select value from jsonb_array_elements(keys) order by value loop
    execute format('select 1 from %s where %s for update', of_table, (
      select string_agg(format('%I = %L', part.name, part.value), ' and ')
      from jsonb_each_text(key) as part(name, value)
    ));
  end loop;
end
$$;

comment on function etl.lock_rows is 'Locks rows of a table by their keys, one after the other: Citus locks rows of one shard only.';
