create or replace view etl.raw_findings as
with found as materialized (
  select feed, finding from etl.list_findings
  union all
  select feed, finding from etl.coverage_findings
  union all
  select feed, jsonb_build_object('detail', 'quarantine', 'count', items) from etl.quarantined
  union all
  -- status proposes the same for each class of failure.
  select feed, jsonb_build_object('state', reason, 'detail', case
    when failure in ('unauthorized', 'key-missing', 'rejected', 'unreachable', 'intercepted') then 'feed-unanswered'
    when failure in ('unsupported', 'unknown-chain', 'not-found', 'throttled') then 'feed-waits'
    when failure in ('out-of-credits', 'daily-limit') then 'feed-without-credits'
    when failure = 'not-stored' or starts_with(failure, 'database-') then 'feed-not-stored'
    else 'feed-fails'
  end)
  from etl.feeds
  where reason is not null
)
select feed, true as is_open, finding from found
union all
select feeds.feed, true, jsonb_build_object('detail', coalesce(lacks, 'no-evidence'))
from etl.feeds
left join etl.verification using (feed)
where is_verified is not true and not exists (select from found where found.feed = feeds.feed)
union all
select feed, false, jsonb_build_object('detail', 'feed-outage', 'outage', sentence)
from etl.outages
cross join unnest(feeds) as own (feed)
join etl.wanted_feeds using (feed)
-- A feed that is meant to be still misses nothing.
where is_wanted and paused_at is null
union all
select feed, false, note from etl.list_notes
union all
select feed, false, note from etl.item_notes;

create or replace function etl.all_findings() returns table (feed text, is_open boolean, finding jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  return query select raw.feed, raw.is_open, raw.finding from etl.raw_findings as raw;
end
$$;

comment on view etl.raw_findings is 'What verify finds in the database, as a detail, a place and the parts of its sentence. is_open: it keeps the feed from being complete; others are notes.';
comment on function etl.all_findings is 'The same, for those who may not read the tables that it reads. Compiling a statement of hundreds of parts takes a minute, so it never is.';
