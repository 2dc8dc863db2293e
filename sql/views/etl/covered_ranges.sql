create or replace view etl.covered_ranges as
select feed, range,
       least(
         (
           select least(started_at, (
             select fetched_at from etl.pages where walk_id = walks.id and sequence = 0
           ))
           from etl.walks
           where walks.feed = coverage.feed and verified && range
           order by started_at limit 1
         ),
         (select min(as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
       ) as as_of,
       least(
         greatest(
           (select max(started_at) from etl.walks where walks.feed = coverage.feed and verified && range),
           (select max(newest_as_of) from etl.pruned where pruned.feed = coverage.feed and verified && range)
         ),
         last_at
       ) as newest_as_of
from etl.feed_coverage as coverage
left join etl.quarantined using (feed)
-- Walks begin by the clocks of workers, one of which may be fast; a page is requested by the database's.
left join lateral (
  select max(verified_at) as last_at from etl.coverage as kept where kept.feed = coverage.feed
) as last on true,
lateral unnest(covered - coalesce(places, '{}')) as range;

comment on view etl.covered_ranges is 'Ranges of blocks whose items are complete, without those that can contain a quarantined item, and when the oldest and the newest walk that verify a part of them began. Only a query that selects these times reads every walk.';
