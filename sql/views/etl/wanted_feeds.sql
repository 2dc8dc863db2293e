create or replace view etl.wanted_feeds as
select feeds.feed, coalesce(wanted_by, '{}') as wanted_by, paused_at,
       wanted_by is not null or not exists (
         select from etl.lanes where lanes.wanted_by <> '{}'
       ) as is_wanted
from etl.feeds
left join (
  select feed, array_agg(distinct deployment order by deployment) filter (where deployment is not null)
           as wanted_by,
         min(paused_at) as paused_at
  from etl.lanes left join unnest(wanted_by) as deployment on true
  group by feed
) as stated using (feed);

comment on view etl.wanted_feeds is 'Who wants each feed. One that no deployment wants, where another wants one, is at rest: its rows stay.';
