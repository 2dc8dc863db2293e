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
)
select sender_kind as kind_now, chain_id, count(*) as operations,
       count(*) filter (where not success) as failed,
       -- A share of fewer than 20 says nothing.
       case when count(*) >= 20
            then round(100.0 * count(*) filter (where not success) / count(*), 1) end as failed_percent,
       (
         -- Operations of the chain that have no known time, and are left out.
         select coalesce(sum(other.operations), 0)::bigint
         from explorer.operations_daily as other
         where other.day is null and other.chain_id = op.chain_id
       ) as untimed
from explorer.operations_enriched as op
where block_time >= (select since::timestamp at time zone 'UTC' from period)
  and (:chain::bigint is null or chain_id = :chain)
group by sender_kind, chain_id
order by failed_percent desc nulls last, operations desc, chain_id, sender_kind;
