create or replace view etl.item_paces as
with ranked as (
  select feed, extract(epoch from timestamp)::float8 as at,
         extract(epoch from timestamp - lead(timestamp) over newest_first)::float8 as gap,
         row_number() over newest_first as place, count(*) over (partition by feed) as items
  from etl.newest_times
  where timestamp <= now() + interval '1 day'
  window newest_first as (partition by feed order by timestamp desc)
)
-- Two wrong times are ignored: in the newest item, and in the interval. A page or less shows no interval.
select feed, json_build_object(
  'newest', array_agg(at order by place) filter (where place <= 3),
  'usual_s', (max(at) filter (where place = 3) - max(at) filter (where place = items - 2)) / (max(items) - 5),
  'longest_s', (array_agg(gap order by gap desc nulls last))[3]
) as pace
from ranked
group by feed
having count(*) >= 50;

comment on view etl.item_paces is 'The pace of each list by its newest items, without future times: the three newest, as seconds since 1970; the usual and the longest interval, in seconds. Lists with too few times are absent.';
