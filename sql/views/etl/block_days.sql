create or replace function etl.all_block_days() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select chain_id, day::text from explorer.chains, etl.days_of_blocks() as day
  union
  select chain_id, day::text from etl.block_days;
end;

create or replace function etl.stale_block_days(since timestamptz) returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select distinct chain_id, etl.utc_day(timestamp)::text
  from explorer.blocks
  where updated_at >= since and timestamp is not null;
end;

create or replace function etl.sum_block_days(of_chain bigint, keys text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  of_day date;
begin
  delete from etl.block_days where chain_id = of_chain and day = any(keys::date[]);
  foreach of_day in array keys::date[] loop
    insert into etl.block_days (
      chain_id, day, blocks, first_height, last_height, first_at, last_at, transactions, gas_used,
      gas_limit, burnt_fees, transaction_fees
    )
    select chain_id, of_day, count(*), min(height), max(height), min(timestamp), max(timestamp),
           sum(transactions_count), sum(gas_used), sum(gas_limit),
           sum(burnt_fees), sum(transaction_fees)
    from explorer.blocks
    where chain_id = of_chain
      and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
    group by chain_id;
  end loop;
end
$$;
