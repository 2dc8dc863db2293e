create or replace function etl.pages_since(
  of_walk bigint, walk_pages bigint, since timestamptz
) returns table (inserted bigint, fetched_at timestamptz)
language sql stable
begin atomic
  select page.inserted, page.fetched_at
  from etl.pages as page
  where page.walk_id = of_walk and page.fetched_at >= since and page.sequence >= walk_pages - (
    with recursive back(depth) as (
      select 64::bigint
      union all
      select 2 * depth
      from back
      where depth < walk_pages and exists (
        select from etl.pages as deep
        where deep.walk_id = of_walk and deep.sequence = walk_pages - depth and deep.fetched_at >= since
      )
    )
    select max(depth) from back
  );
end;

create or replace view etl.lane_paces as
with walk as (
  select id, feed, lane, pages, inserted, started_at, state, finished_at
  from etl.walks
  where state = 'running'
    or finished_at >= least(date_trunc('day', now(), 'UTC'), now() - interval '5 minutes')
), today as (
  -- Only walks older than today count rows by pages.
  select feed, lane, sum(
           case when started_at >= date_trunc('day', now(), 'UTC') then inserted else older.rows end
         ) as rows_today
  from walk
  left join lateral (
    select coalesce(sum(page.inserted), 0) as rows
    from etl.pages_since(id, pages, date_trunc('day', now(), 'UTC')) as page
    where started_at < date_trunc('day', now(), 'UTC')
  ) as older on true
  where state = 'running' or finished_at >= date_trunc('day', now(), 'UTC')
  group by feed, lane
), pace as (
  select feed, lane,
         count(*) / greatest(1, extract(epoch from clock_timestamp() - min(fetched_at)))
           as pages_per_second
  from walk, lateral etl.pages_since(id, pages, now() - interval '5 minutes') as page
  where state = 'running' or finished_at > now() - interval '5 minutes'
  group by feed, lane
)
select feed, lane, coalesce(rows_today, 0) as rows_today, round(pages_per_second, 3) as pages_per_second
from today
full join pace using (feed, lane);

comment on function etl.pages_since is 'The pages of a walk since a time. Doubling steps read at most twice as many.';
comment on view etl.lane_paces is 'Rows that each lane added since midnight UTC, and its pages a second over the last five minutes (null: none). Lanes without recent walks are absent.';
