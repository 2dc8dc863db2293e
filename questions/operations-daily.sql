-- How many user operations and fees were there each day?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: bars x=day y=operations series=chain_id
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), incomplete as materialized (
  -- Why the period may lack operations.
  select chain_id, explorer.incompleteness(chain_id, 'user-operations', since) as caveat
  from explorer.chains, period
), untimed as materialized (
  select chain_id, sum(operations)::bigint as untimed
  from explorer.operations_daily
  where day is null
  group by chain_id
)
select day, chain_id, sum(operations)::bigint as operations, sum(failed)::bigint as failed,
       round(sum(fee_native), 6) as fee_native,
       round(sum(fee_native) / nullif(sum(operations), 0), 12) as mean_fee_native, native_symbol,
       -- Operations of the chain that have no known time, and are in no day.
       coalesce(untimed, 0) as untimed, caveat
from explorer.operations_daily
left join untimed using (chain_id)
left join incomplete using (chain_id)
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
group by day, chain_id, native_symbol, untimed, caveat
order by day desc, chain_id;
