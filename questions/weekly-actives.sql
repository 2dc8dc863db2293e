-- How many accounts were active each week, how many new?
--
-- :chain = all  number of the chain
-- :days = 90    so many days, the last of them in the newest week
--
-- topic: accounts
-- chart: bars x=week y=senders series=chain_id
with weeks as materialized (
  select week, chain_id, operations, senders, new_senders
  from explorer.operations_weekly
  where :chain::bigint is null or chain_id = :chain
), history as materialized (
  select chain_id, from_at, to_at, caveat
  from explorer.history
  where operation = 'user-operations'
)
select week, chain_id, operations, senders,
       -- Null: what is stored does not say whether they sent one before.
       case when history.chain_id is not null and from_at is null
                 and (to_at is null or week <= (to_at at time zone 'UTC')::date - 6)
            then new_senders end as new_senders,
       -- Operations of the chain that have no known time, and are in no week.
       coalesce((
         select operations from weeks as other where other.week is null and other.chain_id = weeks.chain_id
       ), 0) as untimed,
       case when history.chain_id is null then 'not complete anywhere' else caveat end as caveat
from weeks
left join history using (chain_id)
where week > (select max(week) from weeks) - :days::int
order by week desc, chain_id;
