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
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select day, chain_id, sum(operations)::bigint as operations, sum(failed)::bigint as failed,
       round(sum(fee_native), 6) as fee_native,
       round(sum(fee_native) / nullif(sum(operations), 0), 12) as mean_fee_native, native_symbol,
       untimed, caveat
from explorer.operations_daily
left join left_out using (chain_id)
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
group by day, chain_id, native_symbol, untimed, caveat
order by day desc, chain_id;
