-- What did the stored blocks carry each day?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored block
--
-- topic: blocks
-- chart: bars x=day y=transactions series=chain_id
with period as materialized (
  select max(day) - :days::int + 1 as since
  from explorer.chain_daily
  where :chain::bigint is null or chain_id = :chain
)
select day, chain_id, blocks, transactions::bigint as transactions, gas_used,
       round(fill_percent::numeric, 1) as fill_percent, round(burnt_native, 6) as burnt_native,
       native_symbol, date_trunc('second', from_at) as "from", date_trunc('second', to_at) as "to", percent_known
from explorer.chain_daily
where day >= (select since from period)
  and (:chain::bigint is null or chain_id = :chain)
order by day desc, chain_id;
