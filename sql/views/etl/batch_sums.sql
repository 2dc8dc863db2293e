create or replace function etl.all_batch_sums() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select chain_id, batch_number::text from explorer.read_batches
  union
  select chain_id, batch_number::text from etl.batch_sums
  union
  -- Also of a batch that no walk has come to the end of.
  select chain_id, optimism_batch_number::text from explorer.blocks where optimism_batch_number is not null;
end;

create or replace function etl.stale_batch_sums(since timestamptz) returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select distinct chain_id, optimism_batch_number::text
  from explorer.blocks
  where updated_at >= since and optimism_batch_number is not null
  union
  -- Its row changes when a block leaves a batch.
  select chain_id, batch_number::text from explorer.read_batches where updated_at >= since;
end;

create or replace function etl.sum_batch_sums(of_chain bigint, keys text[]) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  delete from etl.batch_sums where chain_id = of_chain and batch_number = any(keys::bigint[]);
  insert into etl.batch_sums (
    chain_id, batch_number, first_at, last_at, blocks, transactions, size, gas_used, gas_limit,
    burnt_fees, transaction_fees
  )
  select chain_id, optimism_batch_number,
         -- Without a block's time, which one is first or last is unknown.
         case when count(timestamp) = count(*) then min(timestamp) end,
         case when count(timestamp) = count(*) then max(timestamp) end, count(*),
         sum(transactions_count), sum(size), sum(gas_used), sum(gas_limit), sum(burnt_fees),
         sum(transaction_fees)
  from explorer.blocks
  where chain_id = of_chain and optimism_batch_number = any(keys::bigint[])
  group by chain_id, optimism_batch_number;
end
$$;
