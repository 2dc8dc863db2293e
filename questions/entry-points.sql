-- What share has each version of the entry point, by week?
--
-- :chain = all  number of the chain
-- :days = 90    so many days until the newest operation, and what their first week has before
--
-- topic: operations
-- chart: shares x=week y=operations series=version
with period as materialized (
  select date_trunc('week', (max(newest_at) at time zone 'UTC')::date - :days::int + 1)::date as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select date_trunc('week', day)::date as week, chain_id, entry_point_version as version,
       sum(operations)::bigint as operations,
       -- A share of fewer than 20 says nothing.
       case when sum(sum(operations)) over all_versions >= 20
            then round(100 * sum(operations) / sum(sum(operations)) over all_versions, 1) end as percent,
       untimed, caveat
from explorer.operations_daily as daily
left join left_out using (chain_id)
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
group by week, chain_id, version, untimed, caveat
window all_versions as (partition by date_trunc('week', day)::date, chain_id)
order by week desc, chain_id, operations desc, version;
