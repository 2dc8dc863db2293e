-- How many accounts sent their first operation each day?
--
-- :chain = all  number of the chain
-- :days = 30    so many days, the last of them that of the newest stored operation
--
-- topic: accounts
-- chart: bars x=day y=new_senders series=chain_id
with period as materialized (
  select (max(newest_at) at time zone 'UTC')::date - :days::int + 1 as since
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
)
select (first_operation_at at time zone 'UTC')::date as day, chain_id, count(*) as new_senders
from explorer.senders
where first_operation_at >= (select since::timestamp at time zone 'UTC' from period)
  and (:chain::bigint is null or chain_id = :chain)
group by day, chain_id
order by day desc, chain_id;
