create or replace view etl.covered_ranges as
select feed, range,
       least(
         (select min(started_at) from etl.walks where walks.feed = coverage.feed and verified && range),
         (select min(as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
       ) as as_of,
       greatest(
         (select max(started_at) from etl.walks where walks.feed = coverage.feed and verified && range),
         (select max(newest_as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
       ) as newest_as_of
from etl.feed_coverage as coverage
left join etl.quarantined using (feed),
lateral unnest(covered - coalesce(places, '{}')) as range;

comment on view etl.covered_ranges is 'Ranges of blocks whose items are complete, without those in which an item stands in quarantine, and when the oldest and the newest walk began that verifies a part of them. The times read every walk, or those of which the ledger remembers only the oldest and the newest; who does not select them does not pay for them.';
