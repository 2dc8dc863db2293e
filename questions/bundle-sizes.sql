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
)
select chain_id, total_ops as operations, count(*) as bundles,
       round(100.0 * count(*) / sum(count(*)) over (partition by chain_id), 1) as percent
from explorer.bundles
where timestamp >= (select since from period) and removed_at is null
  and (:chain::bigint is null or chain_id = :chain)
group by chain_id, total_ops
order by chain_id, operations;
