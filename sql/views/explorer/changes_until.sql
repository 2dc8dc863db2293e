create or replace function explorer.changes_until() returns timestamptz
language sql stable parallel safe security definer set search_path = pg_catalog, pg_temp
begin atomic
  select coalesce((select until from etl.change_bound), '-infinity');
end;

comment on function explorer.changes_until is 'The time below which no change can appear any more: who reads rows with updated_at from the last such time up to this one misses none. Workers move it within 3 seconds after they commit pages, each half minute else, and when they stop.';
