-- Which batches are the newest, how fast did they reach L1?
--
-- :chain = all  number of the chain
-- :limit = 20   rows at most
--
-- topic: batches
-- chart: bars x=batch y=transactions series=chain_id
select chain_id, batch_number as batch, state, blocks, transactions::bigint as transactions,
       round(fill_percent::numeric, 1) as fill_percent, date_trunc('second', last_at) as last_at,
       date_trunc('second', l1_delay) as l1_delay
from explorer.batch_stats
join explorer.read_batches using (chain_id, batch_number)
where :chain::bigint is null or chain_id = :chain
order by batch_number desc, chain_id
limit :limit;
