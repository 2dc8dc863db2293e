-- How old is each list, and how much of it is missing?
--
-- :chain = all  number of the chain
--
-- topic: data quality
-- chart: bars x=feed y=missing
select feed, unit, date_trunc('second', newest_at) as newest_at,
       date_trunc('second', looked_at) as looked_at, is_fresh, covered_to,
       coalesce(gaps, 0) as gaps, case when gaps > 0 then missing else 0 end as missing
from explorer.freshness
left join (
  select feed, count(*) as gaps, sum(to_block - from_block + 1)::bigint as missing
  from explorer.gaps
  group by feed
) as gap using (feed)
where is_wanted and (:chain::bigint is null or chain_id = :chain)
order by feed;
