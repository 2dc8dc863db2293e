-- Which paymasters pay for which share of operations?
--
-- :chain = all  number of the chain
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=address_hash y=percent series=chain_id unit=%
with counted as (
  select chain_id, sum(operations) as operations from explorer.operations_daily group by chain_id
)
select rank, paymasters.chain_id, address_hash, name, total_ops,
       -- Of all that are stored: too high while history is missing.
       round(100.0 * total_ops / nullif(operations, 0), 1) as percent,
       round(100.0 * sum(total_ops) over up_to / nullif(operations, 0), 1) as percent_up_to
from explorer.paymasters
left join counted using (chain_id)
left join explorer.addresses on (addresses.chain_id, hash) = (paymasters.chain_id, address_hash)
where rank is not null and (:chain::bigint is null or paymasters.chain_id = :chain)
window up_to as (partition by paymasters.chain_id order by rank)
order by rank, paymasters.chain_id
limit :limit;
