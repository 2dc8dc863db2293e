create or replace function etl.findings_of_batches() returns table (feed text, finding jsonb)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  -- As in etl.doubted_batches.
  if not exists (select from etl.feeds where kind = 'numbered') then
    return;
  end if;
  return query select found.feed, found.finding from etl.batch_findings as found;
end
$$;

create or replace function etl.notes_of_batches() returns table (feed text, note jsonb)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  if not exists (select from etl.feeds where kind = 'numbered') then
    return;
  end if;
  return query
  -- What is above the highest verified batch waits for what is to come.
  select head.feed, jsonb_build_object(
    'detail', 'waits-for-' || waits_for, 'from', lower(range), 'to', upper(range) - 1
  )
  from (
    select heads.feed, waits_for, unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
    from etl.batch_heads as heads
    where waits_for is not null
    group by heads.feed, waits_for
  ) as head
  union all
  select notes.feed, notes.note from etl.batch_notes as notes;
end
$$;

create or replace view etl.list_findings as
select feed, jsonb_build_object(
  'detail', 'not-downloaded', 'from', lower(gap), 'to', upper(gap) - 1
) as finding
from etl.feed_gaps
union all
select feed, finding from etl.findings_of_batches();

create or replace view etl.list_notes as
select feed, note from etl.notes_of_batches()
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

comment on function etl.findings_of_batches is 'The findings of etl.batch_findings, planned only where a feed has batches.';
comment on function etl.notes_of_batches is 'Which batches wait, and for what, and the notes of etl.batch_notes.';
comment on view etl.list_findings is 'What keeps the list of each feed open.';
comment on view etl.list_notes is 'What limits the completeness of each list: batches that still wait, the lowest batch, the order of a ranking.';
