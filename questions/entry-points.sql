-- What share has each version of the entry point, by week?
--
-- :chain = all  number of the chain
-- :days = 90    so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: shares x=week y=operations series=version
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
)
select date_trunc('week', day)::date as week, chain_id, entry_point_version as version,
       sum(operations)::bigint as operations,
       -- A share of fewer than 20 says nothing.
       case when sum(sum(operations)) over all_versions >= 20
            then round(100 * sum(operations) / sum(sum(operations)) over all_versions, 1) end as percent,
       (
         -- Operations of the chain that have no known time, and are left out.
         select coalesce(sum(other.operations), 0)::bigint
         from explorer.operations_daily as other
         where other.day is null and other.chain_id = daily.chain_id
       ) as untimed
from explorer.operations_daily as daily
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
group by week, chain_id, version
window all_versions as (partition by date_trunc('week', day)::date, chain_id)
order by week desc, chain_id, operations desc, version;
