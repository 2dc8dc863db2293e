create or replace view etl.newest_runs as
select run.*, success.closed_at as success_at
from etl.feeds, unnest(array['live', 'backfill']) as own, lateral (
  -- By the whole key of runs_feed: by the id alone the planner reads all runs backward for a lane without one.
  select * from etl.runs
  where (feed, lane, id) <= (feeds.feed, own, 9223372036854775807)
  order by feed desc, lane desc, id desc
  limit 1
) as run
left join lateral (
  select feed, lane, closed_at from etl.runs
  where state = 'finished' and (feed, lane, id) <= (run.feed, run.lane, 9223372036854775807)
  order by feed desc, lane desc, id desc
  limit 1
) as success on success.feed = run.feed and success.lane = run.lane
where run.feed = feeds.feed and run.lane = own;

comment on view etl.newest_runs is 'The newest run of each lane, and when the last one ended that went well.';
