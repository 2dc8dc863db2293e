create or replace function etl.undated_keys() returns table (chain_id bigint, key text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  perform 1 from explorer.user_operations where timestamp is null limit 1;
  -- Also where the last of them has a time now, maybe since its block had one.
  return query
  select chains.chain_id, '-infinity'::text from explorer.chains
  where found or exists (
    select from etl.operation_days as days
    where days.chain_id = chains.chain_id and days.day = '-infinity'
  );
end
$$;

create or replace function etl.all_operation_days() returns table (chain_id bigint, key text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return query
  select chains.chain_id, day::text from explorer.chains, etl.days_of_operations() as day
  union
  select days.chain_id, day::text from etl.operation_days as days;
  return query select * from etl.undated_keys();
  if found then
    -- Then there may be operations wherever there are blocks.
    return query
    select chains.chain_id, day::text from explorer.chains, etl.days_of_blocks() as day;
  end if;
end
$$;

create or replace function etl.stale_operation_days(since timestamptz) returns table (chain_id bigint, key text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  written record;
  sent record;
begin
  return query select * from etl.undated_keys();
  for written in
    select distinct chain_id as of_chain, key as sender from etl.moved_rows where name = 'operation_days/senders'
  loop
    -- One by one: a server that holds a part of the operations alone has no blocks to look into.
    for sent in
      select distinct (timestamp at time zone 'UTC')::date as day,
             case when timestamp is null then block_number end as block
      from explorer.user_operations
      where chain_id = written.of_chain and address_hash = written.sender
    loop
      return query
      select written.of_chain, coalesce(sent.day, etl.utc_day((
        select known.timestamp from explorer.time_of_block(written.of_chain, sent.block) as known
      )), '-infinity')::text;
    end loop;
  end loop;
  for written in
    select distinct chain_id as of_chain, (timestamp at time zone 'UTC')::date as day,
           first_seen_at < updated_at as has_changed
    from explorer.user_operations
    where updated_at >= since and timestamp is not null
  loop
    -- A changed operation may have moved from the day before or after: its block was reorganised. A table that
    -- Citus distributes has no trigger that knows the day.
    return query
    select written.of_chain, (written.day + shift)::text
    from generate_series(-1, 1) as shift
    where shift = 0 or written.has_changed;
  end loop;
  for written in
    with fresh as materialized (
      select chain_id, height, first_seen_at < updated_at as has_changed
      from explorer.blocks where updated_at >= since
    )
    select op.chain_id as of_chain, block_number as block, has_changed
    from explorer.user_operations as op
    join fresh on fresh.chain_id = op.chain_id and height = block_number
    where op.timestamp is null
    union
    select chain_id, block_number, first_seen_at < updated_at from explorer.user_operations
    where updated_at >= since and timestamp is null
  loop
    return query
    select written.of_chain, (etl.utc_day(known.timestamp) + shift)::text
    from explorer.time_of_block(written.of_chain, written.block) as known, generate_series(-1, 1) as shift
    where shift = 0 or written.has_changed;
    -- Until its block was reported, it had the time of a sibling.
    return query
    select written.of_chain, etl.utc_day(timestamp)::text
    from explorer.user_operations
    where chain_id = written.of_chain and block_number = written.block and timestamp is not null;
  end loop;
end
$$;

create or replace function etl.operations_of_day(of_chain bigint, of_day date) returns table (
  entry_point_version text, status boolean, address_hash text, fee numeric
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  if of_day = '-infinity' then
    return query
    with timeless as materialized (
      select entry_point_version, status, address_hash, fee, block_number
      from explorer.user_operations
      where chain_id = of_chain and removed_at is null and timestamp is null
    ), dated as materialized (
      select height from explorer.blocks
      where chain_id = of_chain and timestamp is not null
        and height in (select block_number from timeless)
      union
      select block_number from explorer.user_operations
      where chain_id = of_chain and timestamp is not null and removed_at is null
        and block_number in (select block_number from timeless)
    )
    select entry_point_version, status, address_hash::text, fee::numeric
    from timeless
    left join dated on height = block_number
    where height is null;
    return;
  end if;
  return query
  with timed as materialized (
    select entry_point_version, status, address_hash, fee, block_number
    from explorer.user_operations
    where chain_id = of_chain and removed_at is null
      and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
  ), blocks_of_day as materialized (
    select height from explorer.blocks
    where chain_id = of_chain
      and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
    union
    select block_number from timed
    where not exists (
      select from explorer.blocks
      where chain_id = of_chain and height = block_number and timestamp is not null
    )
  ), timeless as materialized (
    select entry_point_version, status, address_hash, fee
    from explorer.user_operations
    join blocks_of_day on height = block_number
    where chain_id = of_chain and removed_at is null and timestamp is null
  )
  select entry_point_version, status, address_hash::text, fee::numeric from timed
  union all
  select entry_point_version, status, address_hash::text, fee::numeric from timeless;
end
$$;

create or replace function etl.sum_operation_days(of_chain bigint, keys text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  of_day date;
begin
  delete from etl.operation_days where chain_id = of_chain and day = any(keys::date[]);
  delete from etl.fee_days where chain_id = of_chain and day = any(keys::date[]);
  -- One by one, so that each finds its rows by their time.
  foreach of_day in array keys::date[] loop
    with op as materialized (
      select entry_point_version, status, address_hash collate "C" as address_hash, fee
      from etl.operations_of_day(of_chain, of_day)
    ), by_fee as (
      insert into etl.fee_days (chain_id, day, operations, fees)
      select of_chain, of_day, count(fee),
             percentile_disc(array[0.1, 0.5, 0.9, 0.99]) within group (order by fee)
      from op
      having count(fee) > 0
    ), sent as (
      select coalesce(entry_point_version, '') as version, address_hash, count(*) as operations,
             count(*) filter (where not status) as failed, sum(fee) as fees
      from op
      group by version, address_hash
    )
    insert into etl.operation_days (
      chain_id, day, entry_point_version, sender_kind, operations, failed, senders, fees
    )
    select of_chain, of_day, version, kind, sum(operations), sum(failed), count(address_hash), sum(fees)
    from sent
    left join explorer.addresses on chain_id = of_chain and hash = address_hash,
    lateral (select coalesce(etl.address_kind(proxy_type, is_contract), '') as kind) as own
    group by version, kind;
  end loop;
end
$$;
