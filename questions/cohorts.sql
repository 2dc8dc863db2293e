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
       round(100.0 * count(*) / max(count(*)) over (partition by chain_id, cohort), 1) as percent
from active
join begun using (chain_id, sender)
where cohort > (select max(month) - :days::int from active)
group by cohort, chain_id, month
order by cohort desc, chain_id, later;
