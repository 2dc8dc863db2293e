-- What did a cheap, a usual and an expensive operation cost?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored operation
--
-- topic: operations
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select day, chain_id, operations, round(p10_native, 12) as p10_native, round(p50_native, 12) as p50_native,
       round(p90_native, 12) as p90_native, round(p99_native, 12) as p99_native, native_symbol,
       untimed, caveat
from explorer.fees_daily as daily
left join left_out using (chain_id)
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
order by day desc, chain_id;
