create or replace function etl.newest_item(
  of_chain bigint, of_operation text
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- for each newest-first list
  if of_operation = '{name}' then
    return query
    select max({height}), coalesce(
      max({time}) filter (where {time} <= updated_at + interval '1 day'),
      percentile_disc(0.5) within group (order by {time})
    )
    from (
      select {height}, {time}, updated_at from {table}
      where chain_id = of_chain and {height} is not null
      order by {height} desc
      limit 9
    ) as item
    having count(*) > 0;
  end if;
  -- end
end
$$;

create or replace function etl.item_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- for each newest-first list
  if of_operation = '{name}' then
    return query
    select {height}, {time} from {table}
    where chain_id = of_chain and {height} <= at_most and {time} < before
    order by {height} desc
    limit 1;
  end if;
  -- end
  -- for each numbered list
  if of_operation = '{name}' then
    return query
    select batch_number, timestamp from {states} as batch
    join {blocks} as block on block.chain_id = batch.chain_id and block.height = last_height
    where batch.chain_id = of_chain and blocks_count > 0 and batch_number <= at_most and timestamp < before
    order by batch_number desc
    limit 1;
  end if;
  -- end
end
$$;

create or replace function etl.items_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz, most int
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- for each newest-first list
  if of_operation = '{name}' then
    return query
    select {height}, {time} from {table}
    where chain_id = of_chain and {height} <= at_most and {time} < before
    order by {height} desc
    limit most;
  end if;
  -- end
  -- for each numbered list
  if of_operation = '{name}' then
    return query
    select batch_number, timestamp from {states} as batch
    join {blocks} as block on block.chain_id = batch.chain_id and block.height = last_height
    where batch.chain_id = of_chain and blocks_count > 0 and batch_number <= at_most and timestamp < before
    order by batch_number desc
    limit most;
  end if;
  -- end
end
$$;

create or replace function etl.is_time_confirmed(
  of_height bigint, of_time timestamptz, heights bigint[], times timestamptz[]
) returns boolean
language sql immutable
begin atomic
  with item as (
    select height, extract(epoch from "time") as at, place
    from unnest(heights, times) with ordinality as item(height, "time", place)
  ), pace as (
    -- The median over items a quarter of them apart: if one part of two has wrong times, most of
    -- these pairs do not cross from one to the other.
    select coalesce(
             percentile_disc(0.5) within group (order by greatest(0, (a.at - b.at) / (a.height - b.height))),
             1e9
           ) as block_s
    from item as a
    join item as b
      on b.place = a.place + greatest(1, cardinality(heights) / 4) and b.height < a.height
  ), vote as (
    select place, extract(epoch from of_time) - at
             between -10 and 10 + 3 * block_s * (of_height - height) as agrees
    from item, pace
  )
  select coalesce(
    2 * count(*) filter (where agrees) > count(*)
      and 2 * count(*) filter (where agrees and place <= 9) > count(*) filter (where place <= 9),
    false
  )
  from vote;
end;

create or replace function etl.confirmed_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  item record;
  highest record;
  place bigint := at_most;
begin
  for tries in 1..500 loop
    select into item * from etl.items_below(of_chain, of_operation, place, before, 1);
    exit when not found;
    if tries = 1 then highest := item; end if;
    if (
      select etl.is_time_confirmed(
        item.height, item.timestamp, array_agg(near.height), array_agg(near.timestamp)
      )
      -- More than two pages: one page of wrong times is outvoted.
      from etl.items_below(of_chain, of_operation, item.height, 'infinity', 128) as near
    ) then
      return query select item.height, item.timestamp;
      return;
    end if;
    place := item.height - 1;
  end loop;
  -- Ten pages of times that confirm none: no item is better than the highest.
  if highest is not null then
    return query select highest.height, highest.timestamp;
  end if;
end
$$;

create or replace function etl.since_stop(
  of_chain bigint, of_operation text, at_least bigint, since timestamptz
) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- The nearest five: one or two that report a wrong time neither make a stop nor take it away.
  -- for each newest-first list
  if of_operation = '{name}' then
    return (
      select {height}
      from (
        select {height}, {time} from {table}
        where chain_id = of_chain and {height} >= at_least and {time} is not null
        order by {ascending}
        limit 5
      ) as item
      where {time} < since
      order by {height}
      offset 1 limit 1
    );
  end if;
  -- end
end
$$;

create or replace function etl.item_above(
  of_chain bigint, of_operation text, at_least bigint
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  -- for each newest-first list
  if of_operation = '{name}' then
    return query
    select {height}, {time} from {table}
    where chain_id = of_chain and {height} >= at_least and {time} is not null
    order by {ascending}
    limit 1;
  end if;
  -- end
  -- for each numbered list
  if of_operation = '{name}' then
    return query
    select batch_number, timestamp from {states} as batch
    join {blocks} as block on block.chain_id = batch.chain_id and block.height = last_height
    where batch.chain_id = of_chain and blocks_count > 0 and batch_number >= at_least and timestamp is not null
    order by batch_number
    limit 1;
  end if;
  -- end
end
$$;

comment on function etl.newest_item is 'The highest stored position of a list that is newest first, and the newest time of the nine items there. A time of more than a day after its row was written is wrong and does not count, unless all are so. As a function, like the others: a table that is spread over servers cannot be joined laterally, and a union of the lists would be read from end to end. It names tables of schema explorer only, which analysts may read.';
comment on function etl.item_below is 'The highest stored item of a list at or below a height that is older than a time; infinity is any that reports its own. In a numbered list an item is a batch, as old as its last block.';
comment on function etl.items_below is 'The highest stored items of a list at or below a height that are older than a time; infinity: any that report their own.';
comment on function etl.is_time_confirmed is 'Whether the time of an item agrees with those of most of the items from it downward, and of the nearest nine: it lies above each of theirs by three times what the blocks between usually take, at most, and 10 s.';
comment on function etl.confirmed_below is 'The highest stored item of a list at or below a height that is older than a time, and whose time the items below it confirm: no wrong time of one item or of one page decides.';
comment on function etl.since_stop is 'The height at which a walk that ended at since, and reached a height, went beyond it: two of the five lowest stored items from there upward are older. Null: what is stored now does not say so.';
comment on function etl.item_above is 'The lowest stored item of a list at or above a height that reports its time; in a numbered list a batch.';
