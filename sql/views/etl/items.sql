create or replace function etl.newest_item(
  of_chain bigint, of_operation text, at_most bigint default 9223372036854775807
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
      where chain_id = of_chain and {height} <= at_most
      order by {height} desc
      -- More than two pages: one page of wrong times does not decide.
      limit 128
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

create or replace function etl.items_per_day(
  of_chain bigint, of_operation text, at_least bigint, most int
) returns numeric
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- for each newest-first list
  if of_operation = '{name}' then
    return (
      select 86400 * (count(*) - 1) / nullif(extract(epoch from max(item.time) - min(item.time)), 0)
      from (
        select {time} as "time" from {table}
        where chain_id = of_chain and {height} >= at_least and {time} < 'infinity'
        order by {height} desc
        limit most
      ) as item
    );
  end if;
  -- end
end
$$;

create or replace function etl.older_item(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns bigint
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  item record;
  highest bigint;
begin
  for item in select * from etl.items_below(of_chain, of_operation, at_most, before, 500) loop
    if (
      select 2 * count(*) filter (where near.timestamp < before) > count(*)
               and 2 * count(*) filter (where near.timestamp < before and place <= 9)
                   > count(*) filter (where place <= 9)
      from (
        select near.timestamp, row_number() over () as place
        from etl.items_below(of_chain, of_operation, item.height, 'infinity', 128) as near
      ) as near
    ) then
      return item.height;
    end if;
    highest := coalesce(highest, item.height);
  end loop;
  -- Ten pages of items that those below do not confirm: none is better than the highest.
  return highest;
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

comment on function etl.newest_item is 'The highest stored position of a list that is newest first, and the newest time of the 128 items from there down, or from a height. A time of more than a day after its row was written is wrong and does not count, unless all are so. As a function, like the others: a table that is spread over servers cannot be joined laterally, and a union of the lists would be read from end to end. It names tables of schema explorer only, which analysts may read.';
comment on function etl.item_below is 'The highest stored item of a list at or below a height that is older than a time; infinity is any that reports its own. In a numbered list an item is a batch, as old as its last block.';
comment on function etl.items_below is 'The highest stored items of a list at or below a height that are older than a time; infinity: any that report their own.';
comment on function etl.items_per_day is 'How many items a day a newest-first list has, by its highest stored items, so many at most and none below a height.';
comment on function etl.older_item is 'The height of the highest stored item of a list, at or below one, that is older than a time, as are most of the nine and of the 128 items from it downward: neither a few wrong times nor a page of them decide.';
comment on function etl.since_stop is 'The height at which a walk that ended at since, and reached a height, went beyond it: two of the five lowest stored items from there upward are older. Null: what is stored now does not say so.';
comment on function etl.item_above is 'The lowest stored item of a list at or above a height that reports its time; in a numbered list a batch.';
