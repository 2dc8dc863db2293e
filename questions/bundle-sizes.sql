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
), left_out as materialized (
  -- Of each chain: bundles that have no known time, and why the period may lack others.
  select chain_id,
         (
           select count(*) from explorer.bundles_enriched as bundle
           where block_time is null and bundle.chain_id = chains.chain_id
         ) as untimed,
         explorer.incompleteness(chain_id, 'bundles', (since at time zone 'UTC')::date) as caveat
  from explorer.chains, period
), sized as (
  select chain_id, operations, count(*) as bundles
  from explorer.bundles_enriched
  where block_time >= (select since from period)
    and (:chain::bigint is null or chain_id = :chain)
  group by chain_id, operations
)
select chain_id, operations, bundles,
       -- A share of fewer than 20 says nothing.
       case when sum(bundles) over (partition by chain_id) >= 20
            then round(100.0 * bundles / sum(bundles) over (partition by chain_id), 1) end as percent,
       untimed, caveat
from sized
left join left_out using (chain_id)
order by chain_id, operations;
