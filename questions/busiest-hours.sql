-- At which hours, UTC, are there most user operations?
--
-- :chain = all  number of the chain
-- :days = 7     so many days, the last of them that of the newest stored operation
--
-- topic: operations
-- chart: bars x=hour y=operations series=chain_id
with period as materialized (
  select date_trunc('day', max(newest_at), 'UTC') - make_interval(days => :days::int - 1) as since,
         max(newest_at) as newest
  from explorer.freshness
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select (since at time zone 'UTC')::date from period))
)
select extract(hour from block_time at time zone 'UTC')::int as hour, chain_id,
       count(*) as operations,
       -- A share of fewer than 20 says nothing.
       case when sum(count(*)) over (partition by chain_id) >= 20
            then round(100 * count(*) / sum(count(*)) over (partition by chain_id), 1) end as percent,
       (select untimed from left_out where left_out.chain_id = op.chain_id) as untimed,
       (select caveat from left_out where left_out.chain_id = op.chain_id) as caveat
from explorer.operations_enriched as op
where block_time between (select since from period) and (select newest from period)
  and (:chain::bigint is null or chain_id = :chain)
group by hour, chain_id
order by operations desc, chain_id, hour;
