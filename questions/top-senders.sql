-- Which accounts sent most user operations?
--
-- :chain = all  number of the chain
-- :days = 7     so many days, the last of them that of the newest stored operation
-- :limit = 20   rows at most
--
-- topic: accounts
-- chart: bars x=address_hash y=operations series=chain_id
with period as materialized (
  select date_trunc('day', max(newest_at), 'UTC') - make_interval(days => :days::int - 1) as since,
         max(newest_at) as newest
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select (since at time zone 'UTC')::date from period))
), busiest as (
  select chain_id, sender as address_hash, count(*) as operations,
         count(*) filter (where not success) as failed,
         sum(fee) as fee
  from explorer.operations_enriched
  where block_time between (select since from period) and (select newest from period)
    and (:chain::bigint is null or chain_id = :chain)
    and sender is not null
  group by chain_id, sender
  order by operations desc, chain_id, sender
  limit :limit
)
select busiest.chain_id, address_hash, addresses.name, operations, failed,
       round(fee * ('1e-' || native_decimals)::numeric, 6) as fee_native, native_symbol,
       untimed, caveat
from busiest
left join left_out on left_out.chain_id = busiest.chain_id
left join explorer.chains on chains.chain_id = busiest.chain_id
left join explorer.addresses on (addresses.chain_id, hash) = (busiest.chain_id, address_hash)
order by operations desc, busiest.chain_id, address_hash;
