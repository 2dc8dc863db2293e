-- What share of operations do today's EIP-7702 accounts send?
--
-- :chain = all  number of the chain
-- :days = 90    so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: line x=week y=percent series=chain_id unit=%
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
)
select date_trunc('week', block_time at time zone 'UTC')::date as week, chain_id, count(*) as operations,
       -- Also those that were sent before the account became one.
       count(*) filter (where sender_kind = 'eip7702') as eip7702_now,
       -- A share of fewer than 20 says nothing.
       case when count(*) >= 20
            then round(100.0 * count(*) filter (where sender_kind = 'eip7702') / count(*), 1) end as percent,
       (
         -- Operations of the chain that have no known time, and are left out.
         select coalesce(sum(other.operations), 0)::bigint
         from explorer.operations_daily as other
         where other.day is null and other.chain_id = op.chain_id
       ) as untimed
from explorer.operations_enriched as op
where block_time >= (select since::timestamp at time zone 'UTC' from period)
  and (:chain::bigint is null or chain_id = :chain)
group by week, chain_id
order by week desc, chain_id;
