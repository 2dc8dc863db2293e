create or replace view etl.stored_batches as
select feed, coalesce(range_agg(number), '{}') as read,
       coalesce(range_agg(number) filter (where is_verified), '{}') as verified
from etl.feeds
left join (
  select chain_id, operation, int8range(batch_number, batch_number + 1) as number, is_verified
  from etl.batch_states
) as batch using (chain_id, operation)
where kind = 'numbered'
group by feed;

create or replace function etl.recount_batches(feeds text) returns void
language sql
begin atomic
  insert into etl.batch_coverage (feed, read, verified)
  select feed, read, verified from etl.stored_batches where feed like feeds
  on conflict (feed) do update
  set read = excluded.read, verified = excluded.verified;
  -- What no trigger has noted, as in a copy that was restored.
  insert into etl.edited_batches (chain_id, operation, batch_number)
  select chain_id, operation, batch_number from etl.block_findings where feed like feeds
  union
  select chain_id, operation, lower_batch from etl.border_findings
  where feed like feeds and upper_batch <= settled_to
  except
  select chain_id, operation, batch_number from etl.edited_batches;
end;

comment on view etl.stored_batches is 'What etl.batch_coverage must be: the rows of each feed''s numbers, put together one by one.';
comment on function etl.recount_batches is 'Recomputes etl.batch_coverage from the rows of the numbers, for feeds whose name matches a pattern.';
