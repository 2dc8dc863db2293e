create or replace function etl.stop_heights(
  of_feed text, depths_ms float8[]
) returns table (depth_ms float8, "from" bigint, floor bigint)
language sql stable
begin atomic
  with top as materialized (
    select chain_id, operation, highest as block,
           known, least(highest, lower(known)) as lowest,
           least(highest, (select max(lower(range)) from unnest(known) as range)) as top_floor
    from etl.feed_coverage
    join etl.feeds using (feed)
    cross join lateral (select covered + coalesce(under_way, '{}') as known) as ranges
    where feed = of_feed and highest is not null
  ), anchor as materialized (
    select top.*,
           (
             select item.timestamp
             from etl.newest_item(chain_id, operation, block) as item
           ) as at
    from top
  )
  select depth, block,
         case when at is null then block
              -- At least half down to it is known: gaps may stay.
              when 2 * etl.width(known * int8multirange(int8range(deep, block))) >= block - deep then deep
              else greatest(deep, top_floor) end
  from anchor
  cross join unnest(depths_ms) as depth
  cross join lateral (
    select greatest(lowest, etl.older_item(
      chain_id, operation, block, at - make_interval(secs => depth / 1000)
    )) as deep
  ) as reach
  order by depth;
end;

create or replace function etl.entry_above(of_feed text, block bigint) returns jsonb
language sql stable
begin atomic
  select page.cursor_in
  from etl.pages as page
  where page.feed = of_feed
    and page.top > block
    and page.is_ordered
    and page.jumped is null
    and page.cursor_in is not null
    and not exists (
      select from etl.walks as entered
      join etl.pages as first on first.walk_id = entered.id and first.sequence = 0
      where entered.feed = of_feed
        and not entered.from_head
        and first.cursor_in = page.cursor_in
        and first.id > page.id
        and coalesce(first.top, 0) <= block
    )
  order by page.top, page.id desc
  limit 1;
end;

create or replace function etl.entries_within(
  of_feed text, above bigint, most int, shortest int
) returns table (cursor jsonb, top bigint)
language sql stable
begin atomic
  with entry as (
    select distinct on (page.top) page.cursor_in as cursor, page.top
    from etl.pages as page
    where page.feed = of_feed
      and page.top > above
      and page.is_ordered
      and page.cursor_in is not null
    order by page.top, page.id desc
  ), placed as (
    select entry.cursor, entry.top,
           row_number() over (order by entry.top desc) as place,
           -- The + 1 is the page that the reading begins with.
           least(most, (count(*) over () + 1) / shortest) as segments,
           count(*) over () + 1 as pages
    from entry
  )
  select placed.cursor, placed.top
  from placed
  where segments > 1
    and place % (pages / segments) = 0
    and place / (pages / segments) < segments
  order by placed.top desc;
end;

comment on function etl.stop_heights is 'For depths in ms, the shallowest first, the block that a walk has to go past and the one that it is so deep below, the covered top. Times that neighbours confirm decide. There is none while nothing is covered, and none below the top''s range if less than half down to the depth is covered or under way: such a gap is history.';
comment on function etl.entry_above is 'The stored cursor nearest above a block; null: only the head leads in. One at which a later walk entered and met nothing above the block does not count: its first item has left the list.';
comment on function etl.entries_within is 'Cursors of the ledger, and the highest block of their pages, that part the blocks from the head down to one evenly, the newest first. At most so many parts of at least so many pages.';
