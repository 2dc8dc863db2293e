create or replace function etl.is_superseded(later etl.walks, at timestamptz) returns boolean
language sql stable
return case later.kind
  -- A walk that ended at its stop height, unless it is the newest of its kind, which shows where the list begins and
  -- when a rule was followed.
  when 'newest-first' then later.reason = 'floor'
    and later.cuts = 0
    and later.is_ordered
    and (
      -- The next of its like, by their ids: a semi-join would hold each walk against all others.
      select true from etl.walks as newer
      where newer.feed = later.feed
        and newer.id > later.id
        and newer.started_at >= later.started_at
        and newer.state = 'finished'
        and newer.reason = 'floor'
        and newer.cuts = 0
        and newer.lane = later.lane
        and newer.from_head = later.from_head
        and (newer.top is null) = (later.top is null)
      order by newer.feed, newer.id
      limit 1
    )
    and later.started_at < at - coalesce(
      (
        select max((rule ->> 'everyMs')::float8) * interval '1 millisecond'
        from etl.feeds, jsonb_array_elements(settings -> 'resweep') as rule
        where feeds.feed = later.feed
      ),
      '0'
    )
    and not exists (
      -- It confirms another walk that skips the same items.
      select from etl.pages where pages.walk_id = later.id and (jumped is not null or not is_ordered)
    )
    and not exists (
      -- It showed blocks that another walk skipped, so that this one confirms no other skip.
      select from etl.pages as skipping
      where skipping.feed = later.feed
        and jumped is not null
        and skipping.walk_id <> later.id
        and jumped && int8range(later.bottom, later.top, '[]')
    )
  -- A newer one read the same verified batch. Polls stay: the next counts them.
  when 'numbered' then exists (
      select from etl.feeds
      join etl.batch_states as batch
        on batch.chain_id = feeds.chain_id
        and batch.operation = feeds.operation
        and batch.batch_number <= latest_batch
      where feeds.feed = later.feed and batch.batch_number = later.batch and is_verified
    )
    and exists (
      select from etl.walks as newer
      where newer.feed = later.feed
        and newer.batch = later.batch
        and newer.id > later.id
        and newer.state = 'finished'
        and (newer.reason is null or newer.reason = 'known')
        and coalesce(newer.top, -1) >= coalesce(later.top, -1)
    )
    and not exists (
      select from etl.batch_observations
      where batch_observations.chain_id = later.chain_id
        and batch_observations.operation = later.operation
        and batch_number = later.batch
        and walk_id = later.id
    )
  -- Each ranking is an observation of the whole list, and there are few.
  else false
end;

create or replace function etl.prunable_walks(
  of_feed text, ids bigint[], at timestamptz, before timestamptz
) returns table (id bigint, pages json)
language sql stable
begin atomic
  with idle as materialized (
    select later.id, span.lowest, span.highest
    from etl.walks as later
    join etl.runs on runs.id = later.run_id
    left join lateral (
      select min(pages.id) as lowest, max(pages.id) as highest
      from etl.pages where walk_id = later.id
    ) as span on true
    where later.id = any(ids)
      and runs.state in ('finished', 'failed', 'superseded')
      and runs.closed_at < before
  ), named as materialized (
    -- The pages that rows of other tables of the ledger refer to.
    select coalesce(range_agg(int8range(page_id, page_id, '[]')), '{}') as numbers
    from (
      select page_id from etl.quarantine where feed = of_feed
      union all
      select last_page_id from etl.quarantine where feed = of_feed and last_page_id is not null
      union all
      select first_page_id from etl.drift where feed = of_feed
      union all
      select page_id from etl.always_present_fields where feed = of_feed
      union all
      select page_id from etl.raw_pages
      where page_id between (select min(lowest) from idle) and (select max(highest) from idle)
    ) as reference
  )
  select later.id, coalesce((select json_agg(page.id) from etl.pages as page where walk_id = later.id), '[]')
  from idle
  join etl.walks as later using (id)
  cross join named
  where (lowest is null or not named.numbers && int8range(lowest, highest, '[]'))
    and not exists (
      select from etl.quarantine as item
      join etl.pages as served on served.id = coalesce(item.last_page_id, item.page_id)
      where item.feed = of_feed and served.walk_id < later.id and etl.reads_again(later, item)
    )
    and etl.is_superseded(later, at);
end;

comment on function etl.is_superseded is 'Whether the ledger can lose a walk that brought nothing, because newer ones show all that it shows.';
comment on function etl.prunable_walks is 'Of some walks of a feed that brought nothing, those whose run closed before a time, from which nothing else is concluded, and to whose pages nothing of the ledger refers; with their pages.';
