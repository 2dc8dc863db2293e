create or replace view etl.item_paces as
-- Two wrong times are ignored: in the newest item, and in the interval. A page or less shows no interval.
select feed, json_build_object(
  'newest', to_json(times[:3]),
  'usual_s', (times[3] - times[items - 2]) / (items - 5),
  'longest_s', (
    select gap
    from (select times[place] - times[place + 1] as gap from generate_series(1, items - 1) as place) as interval
    order by gap desc
    offset 2 limit 1
  )
) as pace
from etl.feeds, lateral (
  select array_agg(extract(epoch from timestamp)::float8 order by timestamp desc) as times, count(*)::int as items
  from etl.items_below(
    -- Minutes of a busy chain and months of a quiet one; a day of batches.
    chain_id, operation, 9223372036854775807, 'infinity', case kind when 'numbered' then 200 else 1000 end
  )
  where timestamp <= now() + interval '1 day'
) as newest
where items >= 50;

comment on view etl.item_paces is 'The pace of each list by its newest items, without future times: the three newest, as seconds since 1970; the usual and the longest interval, in seconds. Lists with too few times are absent.';
