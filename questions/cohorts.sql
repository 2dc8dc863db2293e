-- How many accounts of each month came back in the later ones?
--
-- :chain = all  number of the chain
-- :days = 365   so many days, the last of them in the newest month
--
-- topic: accounts
-- chart: line x=later y=percent series=cohort
with left_out as materialized (
  select chain_id, untimed from explorer.left_out(null)
)
select cohort, chain_id,
       (12 * extract(year from age(month, cohort)) + extract(month from age(month, cohort)))::int as later,
       senders,
       -- Of fewer than 20 accounts a share says nothing.
       case when max(senders) over (partition by chain_id, cohort) >= 20
            then round(100.0 * senders / max(senders) over (partition by chain_id, cohort), 1)
       end as percent,
       -- Why some of them may have begun before.
       case when history.chain_id is null then 'not complete anywhere' else caveat end as caveat,
       untimed
from explorer.cohorts
left join (
  select chain_id, caveat from explorer.history where operation = 'user-operations'
) as history using (chain_id)
left join left_out using (chain_id)
where (:chain::bigint is null or chain_id = :chain)
  and cohort > (
    select max(month) - :days::int from explorer.cohorts where :chain::bigint is null or chain_id = :chain
  )
order by cohort desc, chain_id, later;
