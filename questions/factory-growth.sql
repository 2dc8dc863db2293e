-- Which factories made most new accounts?
--
-- :chain = all  number of the chain
-- :days = 30    so many days back from the newest ranking, or all where they are fewer
-- :limit = 20   rows at most
--
-- topic: accounts
-- chart: bars x=address_hash y=new_accounts series=chain_id
with period as materialized (
  select max(observed_at) - make_interval(days => :days::int) as since
  from explorer.factory_history
  where :chain::bigint is null or chain_id = :chain
), counted as (
  select chain_id, address_hash,
         -- The count as the period began; where the factory is younger, its first.
         coalesce(
           (array_agg(total_accounts order by observed_at desc)
             filter (where observed_at <= (select since from period)))[1],
           (array_agg(total_accounts order by observed_at))[1]
         ) as accounts_before,
         (array_agg(total_accounts order by observed_at desc))[1] as accounts
  from explorer.factory_history
  where total_accounts is not null and (:chain::bigint is null or chain_id = :chain)
  group by chain_id, address_hash
)
select chain_id, address_hash, accounts_before, accounts, accounts - accounts_before as new_accounts
from counted
order by new_accounts desc, accounts desc, chain_id, address_hash
limit :limit;
