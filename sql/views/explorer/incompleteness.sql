create or replace function explorer.incompleteness(of_chain bigint, of_operation text, since date) returns text
language sql stable parallel safe set search_path = pg_catalog, pg_temp
return (
  select case when count(*) = 0 then 'not complete anywhere'
              when max(complete_from_at) = 'infinity' then 'incomplete'
              when max(complete_from_at) > etl.start_of_day(since)
                then 'incomplete before ' || to_char(max(complete_from_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') end
  from explorer.history
  -- By its name: a condition on other columns would compute the history of all feeds, for each chain again.
  where feed = of_chain::text || '/' || of_operation
);

comment on function explorer.incompleteness is 'Why a list of blocks may lack items of a UTC day or of later ones, in words. Null: it lacks none, as of the last poll.';
