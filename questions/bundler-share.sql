-- Which bundlers sent most operations, and how many failed?
--
-- :chain = all  number of the chain
-- :days = 7     so many days, the last of them that of the newest stored bundle
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=bundler_hash y=percent series=chain_id unit=%
with period as materialized (
  select date_trunc('day', max(newest_at), 'UTC') - make_interval(days => :days::int - 1) as since,
         max(newest_at) as newest
  from explorer.freshness
  where operation = 'bundles' and (:chain::bigint is null or chain_id = :chain)
), sent as (
  select chain_id, bundler as bundler_hash, count(*) as operations,
         count(*) filter (where not success) as failed,
         round(100.0 * count(*) / sum(count(*)) over (partition by chain_id), 1) as percent
  from explorer.operations_enriched
  where block_time between (select since from period) and (select newest from period)
    and (:chain::bigint is null or chain_id = :chain)
  group by chain_id, bundler
)
select sent.chain_id, bundler_hash, name, operations, percent, failed,
       round(100.0 * failed / operations, 1) as failed_percent
from sent
left join explorer.addresses on (addresses.chain_id, hash) = (sent.chain_id, bundler_hash)
where bundler_hash is not null
order by operations desc, sent.chain_id, bundler_hash
limit :limit;
