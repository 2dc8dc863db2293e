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
), history as materialized (
  select chain_id, from_at, to_at, caveat
  from explorer.history
  where operation = 'user-operations'
), left_out as materialized (
  select chain_id, untimed from explorer.left_out(null)
), begun as (
  select (first_operation_at at time zone 'UTC')::date as day, chain_id, count(*) as first_seen
  from explorer.senders
  where first_operation_at >= (select since::timestamp at time zone 'UTC' from period)
    and (:chain::bigint is null or chain_id = :chain)
  group by day, chain_id
)
select day, chain_id,
       -- Null: what is stored does not say whether they sent one before.
       case when history.chain_id is not null and from_at is null
                 and (to_at is null or day < (to_at at time zone 'UTC')::date)
            then first_seen end as new_senders,
       first_seen, date_trunc('second', from_at) as "from", date_trunc('second', to_at) as "to",
       case when history.chain_id is null then 'not complete anywhere' else caveat end as caveat,
       untimed
from begun
left join history using (chain_id)
left join left_out using (chain_id)
order by day desc, chain_id;
