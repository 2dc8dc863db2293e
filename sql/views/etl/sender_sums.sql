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
  -- And those whose time is that of a sibling.
  return query
  with fresh as materialized (
    select distinct chain_id, block_number
    from explorer.user_operations
    where updated_at >= since and timestamp is not null
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
  beginning text;
begin
  foreach beginning in array keys loop
    delete from etl.sender_sums
    where chain_id = of_chain and address_hash >= beginning and address_hash < beginning || 'g';
    insert into etl.sender_sums (
      chain_id, address_hash, first_operation_at, last_operation_at, operations, failed, fees
    )
    with sent as materialized (
      select address_hash, timestamp, block_number, status, fee
      from explorer.user_operations
      where chain_id = of_chain and removed_at is null
        and address_hash >= beginning and address_hash < beginning || 'g'
    ), timed as (
      select address_hash, status, fee,
             coalesce(timestamp, (
               select known.timestamp from explorer.time_of_block(of_chain, block_number) as known
             )) as at
      from sent
    )
    select of_chain, address_hash, min(at), max(at), count(*), count(*) filter (where not status), sum(fee)
    from timed
    group by address_hash;
  end loop;
end
$$;
