create or replace view etl.proved_ranges as
select chain_id, operation, feed,
       lower(range) as from_block,
       upper(range) - 1 as to_block,
       walked.oldest as as_of,
       walked.newest as newest_as_of,
       unit
from etl.covered_ranges
join etl.feeds using (feed), lateral (
  select min(started_at) as oldest, max(started_at) as newest
  from etl.walks
  where walks.feed = covered_ranges.feed
    and proved && range
) as walked;

comment on view etl.proved_ranges is 'Coverage of newest-first lists: explorer.coverage has that of the others too.';
