-- How many operations do bundles hold?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored bundle
--
-- topic: bundles
-- chart: bars x=operations y=bundles series=chain_id
with period as materialized (
  select date_trunc('day', max(newest_at), 'UTC') - make_interval(days => :days::int - 1) as since
  from explorer.freshness
  where operation = 'bundles' and (:chain::bigint is null or chain_id = :chain)
), incomplete as materialized (
  -- Why the period may lack bundles.
  select chain_id, explorer.incompleteness(chain_id, 'bundles', (since at time zone 'UTC')::date) as caveat
  from explorer.chains, period
), untimed as materialized (
  select chain_id, bundles as untimed
  from explorer.bundles_daily
  where day is null and (:chain::bigint is null or chain_id = :chain)
)
select chain_id, operations, count(*) as bundles,
       -- A share of fewer than 20 says nothing.
       case when sum(count(*)) over (partition by chain_id) >= 20
            then round(100.0 * count(*) / sum(count(*)) over (partition by chain_id), 1) end as percent,
       -- Bundles of the chain that have no known time, and are left out.
       coalesce(untimed, 0) as untimed, caveat
from explorer.bundles_enriched
left join untimed using (chain_id)
left join incomplete using (chain_id)
where block_time >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
group by chain_id, operations, untimed, caveat
order by chain_id, operations;
