-- Which bundlers sent most new operations?
--
-- :chain = all  number of the chain
-- :days = 30    so many days back from the newest ranking, or all where they are fewer
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=address_hash y=new_operations series=chain_id
with period as materialized (
  select max(observed_at) - make_interval(days => :days::int) as since
  from explorer.bundler_history
  where :chain::bigint is null or chain_id = :chain
), counted as (
  select chain_id, address_hash,
         -- The count as the period began; where the bundler is younger, its first.
         coalesce(
           (array_agg(total_ops order by observed_at desc)
             filter (where observed_at <= (select since from period)))[1],
           (array_agg(total_ops order by observed_at))[1]
         ) as operations_before,
         (array_agg(total_ops order by observed_at desc))[1] as operations
  from explorer.bundler_history
  where total_ops is not null and (:chain::bigint is null or chain_id = :chain)
  group by chain_id, address_hash
)
select chain_id, address_hash, operations_before, operations, operations - operations_before as new_operations
from counted
order by new_operations desc, operations desc, chain_id, address_hash
limit :limit;
