-- Which factories have created the most accounts?
--
-- :chain = all  number of the chain
-- :limit = 20   rows at most
--
-- topic: accounts
-- chart: bars x=name y=total_accounts series=chain_id
select rank, factories.chain_id, total_accounts, address_hash, name
from explorer.factories
left join explorer.addresses on (addresses.chain_id, hash) = (factories.chain_id, address_hash)
where rank is not null and (:chain::bigint is null or factories.chain_id = :chain)
order by total_accounts desc nulls last, factories.chain_id, rank
limit :limit;
