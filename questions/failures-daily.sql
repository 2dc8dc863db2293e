-- How many user operations failed each day, by version?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: line x=day y=failed_percent series=version unit=%
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select day, chain_id, entry_point_version as version, operations, failed,
       -- A share of fewer than 20 says nothing.
       case when operations >= 20 then round(100.0 * failed / operations, 1) end as failed_percent,
       untimed, caveat
from explorer.operations_daily as daily
left join left_out using (chain_id)
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
order by day desc, chain_id, version;
