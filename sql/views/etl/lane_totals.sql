create or replace function etl.count_walk() returns trigger
language plpgsql as $$
begin
  with told as (
    select new.feed as feed, new.lane as lane, 1 as sign, new.pages as pages, new.inserted as inserted,
           new.archived_bytes as archived_bytes, new.credits as credits, new.items as items,
           new.top - new.bottom as blocks, new.cuts as cuts, new.proved as proved,
           new.updated_at as updated_at
    where new.state <> 'running'
    union all
    select old.feed, old.lane, -1, old.pages, old.inserted, old.archived_bytes, old.credits, old.items,
           old.top - old.bottom, old.cuts, null, null
    where old.state <> 'running'
  )
  insert into etl.lane_totals as t (
    feed, lane, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks, proved,
    last_page_at
  )
  select feed, lane, sum(sign * pages), sum(sign * inserted), sum(sign * archived_bytes),
         sum(sign * credits),
         coalesce(sum(sign * items) filter (where cuts = 0 and blocks > 0), 0),
         coalesce(sum(sign * blocks) filter (where cuts = 0 and blocks > 0), 0),
         coalesce(range_agg(proved), '{}'),
         max(updated_at) filter (where pages > 0)
  from told
  group by feed, lane
  on conflict (feed, lane) do update
  set pages = t.pages + excluded.pages,
      inserted = t.inserted + excluded.inserted,
      archived_bytes = t.archived_bytes + excluded.archived_bytes,
      credits = t.credits + excluded.credits,
      spanned_items = t.spanned_items + excluded.spanned_items,
      spanned_blocks = t.spanned_blocks + excluded.spanned_blocks,
      proved = t.proved + excluded.proved,
      last_page_at = greatest(t.last_page_at, excluded.last_page_at);
  -- A walk that verifies less than before takes its coverage with it, unless another walk verifies the same.
  if old.state <> 'running' and (new.state <> 'running' and new.proved @> old.proved) is not true then
    update etl.lane_totals
    set proved = etl.proof_of_walks(old.feed, old.lane)
    where feed = old.feed and lane = old.lane;
  end if;
  return null;
end
$$;

create or replace function etl.uncount_walks() returns trigger
language plpgsql as $$
begin
  update etl.lane_totals as kept
  set pages = kept.pages - ended.pages,
      inserted = kept.inserted - ended.inserted,
      archived_bytes = kept.archived_bytes - ended.archived_bytes,
      credits = kept.credits - ended.credits,
      spanned_items = kept.spanned_items - ended.spanned_items,
      spanned_blocks = kept.spanned_blocks - ended.spanned_blocks
  from (
    select feed, lane, sum(pages) as pages, sum(inserted) as inserted,
           sum(archived_bytes) as archived_bytes, sum(credits) as credits,
           coalesce(sum(items) filter (where cuts = 0 and top > bottom), 0) as spanned_items,
           coalesce(sum(top - bottom) filter (where cuts = 0 and top > bottom), 0) as spanned_blocks
    from gone
    where state <> 'running'
    group by feed, lane
  ) as ended
  where (kept.feed, kept.lane) = (ended.feed, ended.lane);
  -- The rows are locked by now: anyone who ended a walk before is seen, anyone who does so after adds to this.
  update etl.lane_totals as kept
  set proved = etl.proof_of_walks(kept.feed, kept.lane)
  where exists (
    select from gone
    where (gone.feed, gone.lane) = (kept.feed, kept.lane)
      and gone.state <> 'running' and gone.proved <> '{}'
  );
  return null;
end
$$;

create or replace function etl.count_thinning() returns trigger
language plpgsql as $$
begin
  update etl.lane_totals
  set pages = pages + coalesce(new.pages, 0) - coalesce(old.pages, 0),
      credits = credits + coalesce(new.credits, 0) - coalesce(old.credits, 0),
      spanned_items = spanned_items + coalesce(new.spanned_items, 0) - coalesce(old.spanned_items, 0),
      spanned_blocks = spanned_blocks + coalesce(new.spanned_blocks, 0) - coalesce(old.spanned_blocks, 0)
  where feed = coalesce(new.feed, old.feed) and lane = coalesce(new.lane, old.lane);
  return null;
end
$$;

create or replace trigger count_begun_as_ended
after insert on etl.walks
for each row when (new.state <> 'running')
execute function etl.count_walk();

create or replace trigger count_ended
after update on etl.walks
for each row when (old.state <> 'running' or new.state <> 'running')
execute function etl.count_walk();

create or replace trigger count_deleted
after delete on etl.walks
referencing old table as gone
for each statement
execute function etl.uncount_walks();

create or replace trigger count_thinning
after insert or update or delete on etl.thinnings
for each row
execute function etl.count_thinning();

comment on function etl.count_walk is 'Keeps etl.lane_totals: adds a walk that ends, and takes away what is changed.';
comment on function etl.uncount_walks is 'Keeps etl.lane_totals: takes away walks that are deleted. What they verified goes with them, unless others verify it.';
comment on function etl.count_thinning is 'Keeps etl.lane_totals: goes on counting walks that were pruned out of the ledger.';
