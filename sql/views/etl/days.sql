create or replace function etl.utc_day(at timestamptz) returns date
language sql stable return (at at time zone 'UTC')::date;

create or replace function etl.start_of_day(day date) returns timestamptz
language sql stable return day::timestamp at time zone 'UTC';

-- One after the other, by the index: a false time can put 9,999 years between the first and the last.
create or replace function etl.days_of_operations() returns setof date
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  at timestamptz;
begin
  select min(timestamp) into at from explorer.user_operations;
  while at is not null loop
    return next etl.utc_day(at);
    select min(timestamp) into at from explorer.user_operations
    where timestamp >= etl.start_of_day(etl.utc_day(at) + 1);
  end loop;
end
$$;

create or replace function etl.days_of_blocks() returns setof date
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  at timestamptz;
begin
  select min(timestamp) into at from explorer.blocks;
  while at is not null loop
    return next etl.utc_day(at);
    select min(timestamp) into at from explorer.blocks
    where timestamp >= etl.start_of_day(etl.utc_day(at) + 1);
  end loop;
end
$$;
