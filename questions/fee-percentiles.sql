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
), incomplete as materialized (
  -- Why the period may lack operations.
  select chain_id, explorer.incompleteness(chain_id, 'user-operations', since) as caveat
  from explorer.chains, period
)
select day, chain_id, operations, round(p10_native, 12) as p10_native, round(p50_native, 12) as p50_native,
       round(p90_native, 12) as p90_native, round(p99_native, 12) as p99_native, native_symbol,
       (
         -- Operations of the chain that have no known time, and are left out.
         select coalesce(sum(other.operations), 0)::bigint
         from explorer.operations_daily as other
         where other.day is null and other.chain_id = daily.chain_id
       ) as untimed, (select caveat from incomplete where incomplete.chain_id = daily.chain_id) as caveat
from explorer.fees_daily as daily
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
order by day desc, chain_id;
