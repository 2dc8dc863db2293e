create or replace function etl.all_sender_sums() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  -- Address prefixes, so many that each takes one short transaction: some 20,000 operations at most.
  select chain_id, '0x' || lpad(to_hex(part), digits, '0')
  from (
    select chains.chain_id,
           greatest(1, ceil(log(16, greatest(1, sum(inserted) / 20000.0))))::int as digits
    from explorer.chains
    left join etl.feeds on feeds.chain_id = chains.chain_id and operation = 'user-operations'
    left join etl.coverage on coverage.feed = feeds.feed
    group by chains.chain_id
  ) as size, generate_series(0, (16 ^ digits)::int - 1) as part;
end;

create or replace function etl.stale_sender_sums(since timestamptz) returns table (chain_id bigint, key text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
  return query
  select distinct chain_id, address_hash::text
  from explorer.user_operations
  where updated_at >= since and address_hash is not null;
  -- Those whose time is that of a block that is reported now, or reported otherwise.
  return query
  with fresh as materialized (
    select chain_id, height from explorer.blocks where updated_at >= since
  )
  select distinct op.chain_id, address_hash::text
  from explorer.user_operations as op
  join fresh on fresh.chain_id = op.chain_id and height = block_number
  where op.timestamp is null and address_hash is not null;
  -- And those whose time is that of a sibling, or was.
  return query
  with fresh as materialized (
    select chain_id, block_number
    from explorer.user_operations
    where updated_at >= since and timestamp is not null
    union
    select chain_id, key::bigint from etl.moved_rows where name = 'sender_sums/blocks'
  )
  select distinct op.chain_id, address_hash::text
  from explorer.user_operations as op
  join fresh on fresh.chain_id = op.chain_id and fresh.block_number = op.block_number
  where op.timestamp is null and address_hash is not null;
end
$$;

create or replace function etl.sum_sender_sums(of_chain bigint, keys text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  part record;
  fresh etl.sender_sums[];
begin
  for part in
    -- Whole addresses are many and small, beginnings of them few and large.
    select array_agg(key) as whole, null as beginning from unnest(keys) as key where length(key) = 42
    having count(*) > 0
    union all
    select null, key from unnest(keys) as key where length(key) <> 42
  loop
    with sent as materialized (
      select address_hash, timestamp, block_number, status, fee
      from explorer.user_operations
      where chain_id = of_chain and removed_at is null and (
        address_hash = any(part.whole)
        or address_hash >= part.beginning and address_hash < part.beginning || 'g'
      )
    ), timed as materialized (
      select address_hash, status, fee,
             coalesce(timestamp, (
               select known.timestamp from explorer.time_of_block(of_chain, block_number) as known
             )) as at
      from sent
    ), of_week as (
      -- First by week, as a busy account has thousands of operations.
      select address_hash, week, month, min(at) as first_at, max(at) as last_at, count(*) as operations,
             count(*) filter (where not status) as failed, sum(fee) as fees
      from timed, lateral (
        select date_trunc('week', coalesce(at at time zone 'UTC', '-infinity'))::date as week,
               date_trunc('month', coalesce(at at time zone 'UTC', '-infinity'))::date as month
      ) as period
      group by address_hash, week, month
    )
    select array_agg(row(
      of_chain, address_hash, first_at, last_at, operations, failed, fees, weeks, months
    )::etl.sender_sums) into fresh
    from (
      select address_hash, min(first_at) as first_at, max(last_at) as last_at, sum(operations) as operations,
             sum(failed) as failed, sum(fees) as fees, array_agg(distinct week order by week) as weeks,
             array_agg(distinct month order by month) as months
      from of_week
      group by address_hash
    ) as summed;
    -- Equal rows stay: a recomputation writes what it corrects.
    delete from etl.sender_sums as stored
    where chain_id = of_chain and (
      address_hash = any(part.whole)
      or address_hash >= part.beginning and address_hash < part.beginning || 'g'
    ) and not exists (
      select from unnest(fresh) as own where own.address_hash = stored.address_hash and own = stored
    );
    insert into etl.sender_sums
    select * from unnest(fresh)
    on conflict (chain_id, address_hash) do nothing;
  end loop;
end
$$;

create or replace function etl.count_active_senders() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.active_senders as stored (chain_id, unit, first_day, begun, senders)
  select chain_id, unit, first_day, case when unit = 'month' or first_day = first then first else '-infinity' end,
         case tg_op when 'DELETE' then -1 else 1 end * count(*)
  from sums, lateral (values ('week', weeks), ('month', months)) as active (unit, days), lateral (
    select coalesce(case when days[1] = '-infinity' then days[2] else days[1] end, '-infinity') as first
  ) as own, unnest(days) as first_day
  group by 1, 2, 3, 4
  order by 1, 2, 3, 4
  on conflict (chain_id, unit, first_day, begun)
  do update set senders = stored.senders + excluded.senders;
  return null;
end
$$;

create or replace trigger count_deleted after delete on etl.sender_sums
referencing old table as sums
for each statement execute function etl.count_active_senders();

create or replace trigger count_inserted after insert on etl.sender_sums
referencing new table as sums
for each statement execute function etl.count_active_senders();

comment on function etl.count_active_senders is 'Counts the senders of each week and month from the rows of sender_sums that were deleted or inserted.';
