create or replace function etl.incarnation() returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.incarnations default values on conflict do nothing;
  return (select id from etl.incarnations);
end
$$;

comment on function etl.incarnation is 'The id of etl.incarnations, made where a crash has emptied it.';
