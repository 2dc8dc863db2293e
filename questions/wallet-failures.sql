-- Which kinds of wallets, as they are now, fail most?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: bars x=kind_now y=failed_percent series=chain_id unit=%
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select kind_now, chain_id, sum(operations)::bigint as operations, sum(failed)::bigint as failed,
       -- A share of fewer than 20 says nothing.
       case when sum(operations) >= 20
            then round(100.0 * sum(failed) / sum(operations), 1) end as failed_percent,
       untimed, caveat
from explorer.sender_kinds_daily as kinds
left join left_out using (chain_id)
where day >= (select since from period) and (:chain::bigint is null or chain_id = :chain)
group by kind_now, chain_id, untimed, caveat
order by failed_percent desc nulls last, operations desc, chain_id, kind_now;
