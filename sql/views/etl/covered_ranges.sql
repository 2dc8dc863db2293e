create or replace view etl.covered_ranges as
select feed, range
from etl.feed_coverage
left join etl.quarantined using (feed),
lateral unnest(covered - coalesce(places, '{}')) as range;

comment on view etl.covered_ranges is 'Ranges of blocks whose items are complete, without those in which an item stands in quarantine.';
