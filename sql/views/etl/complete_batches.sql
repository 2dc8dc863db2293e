create or replace function etl.doubted_batches()
returns table (feed text, numbers int8multirange, held int8multirange)
language plpgsql stable security definer rows 10
set search_path = pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  -- To plan the rest takes as long as all else of a short command.
  if not exists (select from etl.feeds where kind = 'numbered') then
    return;
  end if;
  return query
  select feeds.feed, coalesce((
           select range_agg(int8range((finding -> 'from')::bigint, (finding -> 'to')::bigint, '[]'))
           from etl.known_batch_findings as known
           where known.feed = feeds.feed and finding ? 'from'
         ), '{}'), coalesce(places, '{}')
  from etl.feeds
  left join etl.quarantined using (feed)
  where kind = 'numbered';
end
$$;

create or replace view etl.complete_batches as
select feed, read, verified - numbers as verified, held, numbers as doubted
from etl.covered_batches
join etl.doubted_batches() using (feed);

comment on function etl.doubted_batches is 'Per feed of a numbered list, the places of etl.known_batch_findings, and those that hold an item in quarantine. As a function: it has hundreds of parts, which no query that reads a view of analysts should plan or compile, and reads tables that they may not.';
comment on view etl.complete_batches is 'The numbers of each feed of a numbered list that were read, and those that are verified and no finding of verify covers. held: those that hold an item in quarantine. doubted: those that a finding covers.';
