-- Which items came late to where their list was complete?
--
-- :chain = all  number of the chain
-- :limit = 20   rows at most
--
-- topic: data quality
select chain_id, operation, key, date_trunc('second', timestamp) as timestamp,
       date_trunc('second', seen_at) as seen_at, date_trunc('second', lateness) as lateness
from explorer.late_arrivals
where :chain::bigint is null or chain_id = :chain
order by late_arrivals.lateness desc nulls last, late_arrivals.seen_at desc, key
limit :limit;
