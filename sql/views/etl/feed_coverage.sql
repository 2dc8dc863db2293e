-- Analysts may not read walks: views of schema explorer call it.
create or replace function etl.reached_since(of_feed text, wanted_since timestamptz) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
begin atomic
  select stop + 1
  from (
    select chain_id, operation, bottom, (scope ->> 'since')::timestamptz as since
    from etl.walks
    join etl.feeds using (feed, chain_id, operation)
    where walks.feed = of_feed
      and state = 'finished'
      and walks.reason = 'since'
      and (finished_at > since_doubted_at) is not false
      and bottom is not null
      and wanted_since >= (scope ->> 'since')::timestamptz
    order by bottom desc
  ) as walk, etl.since_stop(chain_id, operation, bottom, since) as stop
  where stop is not null
  order by bottom desc
  limit 1;
end;

create or replace view etl.feed_coverage as
select feeds.feed,
       lanes.covered * int8multirange(int8range(null, head.top)) as covered,
       least(lanes.highest, head.top) as highest,
       lanes.reached_since,
       (
         select range_agg(int8range(coalesce(floor, 0), bottom, '[]'))
         from etl.walks
         join etl.runs on runs.id = walks.run_id and runs.state = 'open'
         where walks.feed = feeds.feed
           and walks.lane = 'live'
           and walks.state = 'running'
           and bottom >= coalesce(floor, 0)
       ) as under_way,
       case when lanes.highest is null then exists (
         select from etl.walks
         where walks.feed = feeds.feed and state = 'finished' and walks.reason is null and cuts = 0
       ) end as is_empty
from etl.feeds
left join lateral (
  select (
           select range_agg(verified) from etl.coverage where coverage.feed = feeds.feed
         ) as covered,
         (select max(top) from etl.walks where walks.feed = feeds.feed) as highest,
         etl.reached_since(feeds.feed, (feeds.settings ->> 'since')::timestamptz) as reached_since
) as lanes on true
left join lateral (
  select top
  from etl.walks
  -- By the whole key of walks_feed. Clocks of several machines differ, numbers do not.
  where (feed, id) between (feeds.feed, 0) and (feeds.feed, 9223372036854775807)
    and from_head
    and top is not null
  order by feed desc, id desc
  limit 1
) as head on true
where feeds.kind = 'newest-first';

comment on view etl.feed_coverage is 'Per feed of a newest-first list, the blocks that etl.coverage has of its lanes, together: nothing above the newest block that the newest walk from the head met. reached_since: the lowest block that the configured since wants; null: no walk went beyond it. under_way: what live walks have yet to read, which is no gap, though it looks like one. is_empty: whether a walk ended, if none met an item.';
comment on function etl.reached_since is 'The lowest block that a since wants of a newest-first list; null: no walk went beyond it.';
