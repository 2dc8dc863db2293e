create or replace function etl.data_problems() returns setof text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  restore constant text := 'restore schemas explorer, etl and pgboss from one backup, or start over: '
    'drop schema if exists explorer, etl, pgboss cascade';
  used record;
  list record;
  ledger record;
  reached bigint;
  highest bigint;
  is_filled boolean;
  read_pages bigint := (
    select coalesce(sum(pages), 0) - (select coalesce(sum(pages), 0) from etl.pruned) from etl.coverage
  );
begin
  for used in
    select sequence, array_agg(of_table) as tables, array_agg(name) as names
    from (
      select objid::regclass as sequence, refobjid::regclass as of_table, attname as name
      from pg_depend
      join pg_class on pg_class.oid = objid and relkind = 'S' and relnamespace = 'etl'::regnamespace
      join pg_attribute on attrelid = refobjid and attnum = refobjsubid
      where deptype = 'a'
      union all
      -- The higher number is the newer observation.
      select 'etl.pages_id_seq'::regclass, attrelid::regclass, attname
      from pg_attribute
      join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p')
      where attname ~ '^(first_|last_)?page_id$'
        and relnamespace in ('etl'::regnamespace, 'explorer'::regnamespace)
        -- Others would be read whole.
        and exists (select from pg_index where indrelid = attrelid and indkey[0] = attnum)
    ) as number
    group by sequence
    order by sequence
  loop
    execute format('select last_value - (not is_called)::int from %s', used.sequence) into reached;
    execute (
      select 'select greatest(' || string_agg(
        format('(select max(%1$I) from %2$s where %1$I > %3$s)', name, of_table, reached), ', '
      ) || ')'
      from unnest(used.tables, used.names) as number(of_table, name)
    ) into highest;
    if highest is not null then
      return next format(
        '%s is at %s, and number %s is in use: run "select setval(%L, %3$s)"',
        used.sequence, reached, highest, used.sequence
      );
    end if;
  end loop;

  for list in
    select operation, items,
           case kind when 'newest-first' then 'backfill --again' when 'numbered' then 'repair' else 'sync' end as refetch
    from etl.lists
  loop
    return query execute format(
      'select format(%L, rows, chain_id)
       from (
         select chain_id, sum(inserted) as rows from etl.coverage join etl.feeds using (feed)
         where operation = %L group by chain_id
       ) as counted
       where rows > 0 and not exists (select from %s as item where item.chain_id = counted.chain_id)',
      list.items || ' is empty, though %s rows of chain %s were written to it: restore it from a backup, or run '
        '"explorer-etl ' || list.refetch || ' --chain %2$s --operation ' || list.operation || '"',
      list.operation, list.items
    );
    execute format('select exists (select from %s)', list.items) into is_filled;
    if is_filled and not exists (
      select from etl.coverage join etl.feeds using (feed)
      where operation = list.operation and inserted > 0
    ) then
      -- A feed that was forgotten leaves its rows, and the sequence above them; a ledger of its own begins again below.
      execute format(
        'select exists (select from %s where page_id > (select last_value from etl.pages_id_seq))', list.items
      ) into is_filled;
      is_filled := is_filled or not exists (select from etl.feeds) and not exists (
        select from etl.events where kind = 'command' and sentence like 'Forgotten %'
      );
    else
      is_filled := false;
    end if;
    if is_filled then
      return next list.items || ' has rows, but the ledger records none: ' || restore;
    end if;
  end loop;

  for ledger in
    select * from (values
      ('etl.runs', exists (select from etl.runs)),
      ('etl.walks', exists (select from etl.walks)),
      ('etl.pages', exists (select from etl.pages))
    ) as ledger(name, has_rows)
  loop
    if read_pages > 0 and not ledger.has_rows then
      return next format('%s is empty, though %s pages were read: %s', ledger.name, read_pages, restore);
    end if;
  end loop;
end
$$;

comment on function etl.data_problems is 'What check finds of tables and sequences that were moved, restored or emptied by half: sequences behind the numbers in use, tables without the rows that the ledger counts, and rows of which it knows nothing; each with what to run. Reads all page numbers.';
