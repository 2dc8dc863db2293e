-- What share of operations do today's EIP-7702 accounts send?
--
-- :chain = all  number of the chain
-- :days = 90    so many days until the newest operation, and what their first week has before
--
-- topic: operations
-- chart: line x=week y=percent series=chain_id unit=%
with period as materialized (
  select date_trunc('week', (max(newest_at) at time zone 'UTC')::date - :days::int + 1)::date as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select since from period))
)
select date_trunc('week', day::timestamp)::date as week, chain_id, sum(operations)::bigint as operations,
       -- Also those that were sent before the account became one.
       coalesce(sum(operations) filter (where kind_now = 'eip7702'), 0)::bigint as eip7702_now,
       -- A share of fewer than 20 says nothing.
       case when sum(operations) >= 20
            then round(100.0 * coalesce(sum(operations) filter (where kind_now = 'eip7702'), 0)
              / sum(operations), 1) end as percent,
       untimed, caveat
from explorer.sender_kinds_daily as kinds
left join left_out using (chain_id)
where day >= (select since from period) and (:chain::bigint is null or chain_id = :chain)
group by week, chain_id, untimed, caveat
order by week desc, chain_id;
