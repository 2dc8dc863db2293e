create or replace view etl.feed_extents as
select feeds.feed,
       (
         select etl.width(range_agg(range)) from etl.covered_ranges
         where covered_ranges.feed = feeds.feed
       ) as positions,
       gaps, missing, null::jsonb as batches
from etl.feeds, lateral (
  select count(*) as gaps, coalesce(sum(upper(gap) - lower(gap)), 0)::bigint as missing
  from etl.feed_gaps
  where feed_gaps.feed = feeds.feed
) as open
where kind = 'newest-first'
union all
select feed, verified, gaps, unread,
       to_jsonb(counts) - '{feed,gaps}'::text[] || jsonb_build_object('is_bounded', not upper_inf(target_numbers))
from etl.batch_counts() as counts
join etl.feeds using (feed)
union all
select feeds.feed, coalesce((
         select items from etl.rankings
         where rankings.feed = feeds.feed
         order by walk_id desc
         limit 1
       ), 0), 0, 0, null
from etl.feeds
where kind = 'ranked';

create or replace view etl.run_progress as
select runs.id as run_id, json_build_object('reached', (
  select json_build_object('top', top, 'bottom', bottom)
  from etl.walks
  where run_id = runs.id
  order by id desc
  limit 1
), 'reached_at', (
  select timestamp from etl.items_above(feeds.chain_id, feeds.operation, (
    select max(upper(gap)) from etl.feed_gaps where feed_gaps.feed = feeds.feed and is_open
  ))
)) as progress
from etl.runs
join etl.feeds using (feed)
where kind = 'newest-first';

comment on view etl.feed_extents is 'How many positions of each list are verified, in how many gaps how many are missing, and the counts of batches.';
comment on view etl.run_progress is 'How far the newest walk of a run has gone down a newest-first list, and to what time history is read.';
