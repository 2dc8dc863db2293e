create or replace function etl.newest_item(
  of_chain bigint, of_operation text, at_most bigint default 9223372036854775807
) returns table (height bigint, "timestamp" timestamptz)
language sql stable rows 1
begin atomic
  select max(item.height), coalesce(
    max(item.timestamp) filter (where item.timestamp <= item.updated_at + interval '1 day'),
    percentile_disc(0.5) within group (order by item.timestamp)
  )
  -- More than two pages: one page of wrong times does not decide.
  from etl.items_below(of_chain, of_operation, at_most, null, 128) as item
  having count(*) > 0;
end;

create or replace function etl.items_per_day(
  of_chain bigint, of_operation text, at_least bigint, most int
) returns numeric
language sql stable
begin atomic
  select 86400 * (count(*) - 1) / nullif(extract(epoch from max(item.timestamp) - min(item.timestamp)), 0)
  from etl.items_below(of_chain, of_operation, 9223372036854775807, 'infinity', most) as item
  where item.height >= at_least;
end;

create or replace function etl.older_item(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  place bigint := at_most;
  older bigint;
  newer bigint;
begin
  for look in 1..10 loop
    older := (select item.height from etl.items_below(of_chain, of_operation, place, before, 1) as item);
    newer := (
      select min(near.height)
      from etl.items_below(of_chain, of_operation, older, 'infinity', 128) as near
      where near.timestamp between before and near.updated_at + interval '1 day'
    );
    exit when newer is null;
    place := newer - 1;
  end loop;
  return older;
end
$$;

create or replace function etl.since_stop(
  of_chain bigint, of_operation text, at_least bigint, since timestamptz
) returns bigint
language sql stable
begin atomic
  select item.height
  -- The nearest five: one or two that report a wrong time neither make a stop nor take it away.
  from etl.items_above(of_chain, of_operation, at_least, 5) as item
  where item.timestamp < since
  order by item.height
  offset 1 limit 1;
end;

comment on function etl.newest_item is 'The highest stored position of a list, and the newest time of the 128 items from there down, or from a height. A time of more than a day after its row was written is wrong and does not count, unless all are so.';
comment on function etl.items_per_day is 'How many items a day a list has, by its highest stored items, so many at most and none below a height.';
comment on function etl.older_item is 'The height of the highest stored item of a list, at or below one, that is older than a time, as are all of the 128 items from it downward: neither a few wrong times nor a page of them decide. A time of more than a day after its row was written does not count. If newer ones below contradict ten of them, the tenth.';
comment on function etl.since_stop is 'The height at which a walk that ended at since, and reached a height, went beyond it: two of the five lowest stored items from there upward are older. Null: what is stored now does not say so.';
