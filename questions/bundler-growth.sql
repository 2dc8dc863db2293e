-- Which bundlers sent most new operations?
--
-- :chain = all  number of the chain
-- :days = 30    at least so many days back from the newest ranking, or all where they are fewer
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=address_hash y=new_operations series=chain_id
with newest as materialized (
  select max(observed_at) as newest
  from explorer.bundler_history
  where :chain::bigint is null or chain_id = :chain
), period as materialized (
  -- From the last ranking that is so old, else from the first of the chain.
  select chain_id, max(observed_at) as until, coalesce(
           max(observed_at) filter (where observed_at <= (select newest from newest) - make_interval(days => :days::int)),
           min(observed_at)
         ) as since
  from explorer.bundler_history
  where :chain::bigint is null or chain_id = :chain
  group by chain_id
), counted as (
  select chain_id, address_hash, since, until,
         -- Rankings are whole: who is absent from an earlier one began at 0.
         coalesce(
           (array_agg(total_ops order by observed_at desc) filter (where observed_at <= since))[1], 0
         ) as operations_before,
         (array_agg(total_ops order by observed_at desc))[1] as operations
  from explorer.bundler_history
  join period using (chain_id)
  where total_ops is not null
  group by chain_id, address_hash, since, until
)
select chain_id, address_hash, operations_before, operations,
       -- One ranking says nothing of growth.
       case when since < until then operations - operations_before end as new_operations,
       date_trunc('second', since) as "from", date_trunc('second', until) as "to"
from counted
order by new_operations desc nulls last, operations desc, chain_id, address_hash
limit :limit;
