create or replace view etl.list_findings as
select feed, jsonb_build_object(
  'detail', 'not-downloaded', 'from', lower(gap), 'to', upper(gap) - 1
) as finding
from etl.feed_gaps
union all
select feed, finding from etl.batch_findings;

create or replace view etl.list_notes as
-- What is above the highest verified batch waits for what is to come.
select feed, jsonb_build_object(
  'detail', 'waits-for-' || waits_for, 'from', lower(range), 'to', upper(range) - 1
) as note
from (
  select feed, waits_for, unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
  from etl.batch_heads
  where waits_for is not null
  group by feed, waits_for
) as head
union all
select feed, note from etl.batch_notes
union all
select feeds.feed, jsonb_build_object('detail', 'rows-moved', 'count', walks)
from etl.feeds, lateral (
  select walks, still_moving
  from etl.rankings
  where rankings.feed = feeds.feed
  order by walk_id desc
  limit 1
) as newest
where still_moving
union all
select feeds.feed, jsonb_build_object(
  'detail', case last.reason when 'empty' then 'empty-list' else 'part-skipped' end
)
from etl.feeds, lateral (
  select reason from etl.walks where walks.feed = feeds.feed order by id desc limit 1
) as last
where kind = 'ranked' and last.reason in ('empty', 'skipped');

comment on view etl.list_findings is 'What keeps the list of each feed open.';
comment on view etl.list_notes is 'What limits the completeness of each list: batches that still wait, the lowest batch, the order of a ranking.';
