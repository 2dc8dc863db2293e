-- How many accounts of each month came back in the later ones?
--
-- :chain = all  number of the chain
-- :days = 365   so many days, the last of them in the newest month
--
-- topic: accounts
-- chart: line x=later y=percent series=cohort
with active as materialized (
  select distinct chain_id, sender, date_trunc('month', block_time at time zone 'UTC')::date as month
  from explorer.operations_enriched
  where block_time is not null and (:chain::bigint is null or chain_id = :chain)
), begun as materialized (
  select chain_id, sender, min(month) as cohort from active group by chain_id, sender
)
select cohort, chain_id,
       (12 * extract(year from age(month, cohort)) + extract(month from age(month, cohort)))::int as later,
       count(*) as senders,
       -- Of fewer than 20 accounts a share says nothing.
       case when max(count(*)) over (partition by chain_id, cohort) >= 20
            then round(100.0 * count(*) / max(count(*)) over (partition by chain_id, cohort), 1)
       end as percent,
       -- Why some of them may have begun before.
       case when history.chain_id is null then 'not complete anywhere' else caveat end as caveat
from active
join begun using (chain_id, sender)
left join (
  select chain_id, caveat from explorer.history where operation = 'user-operations'
) as history using (chain_id)
where cohort > (select max(month) - :days::int from active)
group by cohort, chain_id, month, history.chain_id, caveat
order by cohort desc, chain_id, later;
