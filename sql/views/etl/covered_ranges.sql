create or replace view etl.covered_ranges as
select feed, range,
       least(
         (select min(as_of) from etl.walks where walks.feed = coverage.feed and verified && range),
         (select min(as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
       ) as as_of,
       greatest(
         (select max(as_of) from etl.walks where walks.feed = coverage.feed and verified && range),
         (select max(newest_as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
       ) as newest_as_of
from etl.feed_coverage as coverage
left join etl.quarantined using (feed), lateral unnest(covered - coalesce(places, '{}')) as range;

comment on view etl.covered_ranges is 'Ranges of blocks whose items are complete, without those that can contain a quarantined item, and when the oldest and the newest walk that verify a part of them began. Only a query that selects these times reads every walk.';
