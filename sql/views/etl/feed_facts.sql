create or replace function etl.pages_beside(
  of_feed text, low bigint, high bigint
) returns table (items double precision, blocks bigint)
language sql stable
begin atomic
  (
    select items::double precision, top - bottom + 1
    from etl.pages
    where feed = of_feed and top > high and bottom >= low and cursor_in is not null and is_ordered
    order by top
    limit 5
  )
  union all
  (
    select items::double precision, top - bottom + 1
    from etl.pages
    where feed = of_feed and top < low and cursor_in is not null and is_ordered
    order by top desc
    limit 5
  );
end;

create or replace view etl.poll_facts as
select feeds.feed, (
  select json_build_object('count', count(*), 'credits', avg(credits))
  from (
    select (select coalesce(sum(credits), 0) from etl.walks where run_id = poll.id) as credits
    from (
      -- By the whole key of runs_finished, as etl.newest_runs does.
      select feed, lane, id from etl.runs
      where state = 'finished' and (feed, lane, id) <= (feeds.feed, 'live', 9223372036854775807)
      order by feed desc, lane desc, id desc
      limit 100
    ) as poll
    -- The first one reads what is already there.
    where feed = feeds.feed and lane = 'live' and id > (
      select min(id) from etl.runs where feed = feeds.feed and lane = 'live'
    )
  ) as polls
) as facts
from etl.feeds;

create or replace function etl.facts_of_list(of_feed text) returns json
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select json_build_object(
      'isBegun', coalesce(pages, 0) > 0,
      'polls', (select poll_facts.facts from etl.poll_facts where poll_facts.feed = feeds.feed),
      'itemsPerBlock', per_block,
      'blockMs', (
        select 1000 * extract(epoch from high.timestamp - low.timestamp)
                 / nullif(high.height - low.height, 0)
        from etl.items_below(chain_id, operation, 9223372036854775807) as high,
             etl.items_above(chain_id, operation, 0) as low
      ),
      'gaps', (
        select coalesce(json_agg(json_build_object(
          'from', low,
          'to', high,
          'endsAt', (
            select 1000 * extract(epoch from timestamp)
            from etl.items_above(chain_id, operation, high + 1)
          ),
          'near', (
            select json_build_object('mean', sum(items) / sum(blocks), 'densest', max(items / blocks))
            from etl.pages_beside(feeds.feed, low, high)
            having sum(items) > 0
          )
        ) order by high desc), '[]')
        from (
          select lower(gap) as low, upper(gap) - 1 as high from etl.feed_gaps
          where feed_gaps.feed = feeds.feed and is_open
        ) as gap
      ),
      'itemsPerDay', etl.items_per_day(
        chain_id, operation, coalesce(
          (
            select max(lower(range))
            from etl.feed_coverage, unnest(covered) as range
            where feed_coverage.feed = feeds.feed
          ),
          0
        ),
        -- Hours of a busy chain, months of a quiet one.
        20000
      )
    )
    from etl.feeds, lateral (
      select sum(pages) as pages, sum(spanned_items) / nullif(sum(spanned_blocks), 0) as per_block
      from etl.coverage
      where coverage.feed = feeds.feed
    ) as walked
    where feeds.feed = of_feed
  );
end
$$;

create or replace view etl.list_facts as
select feed, etl.facts_of_list(feed) as facts from etl.feeds where kind = 'newest-first';

create or replace function etl.batch_facts(
  of_feed text, from_batch bigint, to_batch bigint
) returns json
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select json_build_object(
      'latestBatch', latest_batch,
      'polls', (select poll_facts.facts from etl.poll_facts where poll_facts.feed = of_feed),
      'read', etl.width(
        read * int8multirange(int8range(from_batch, coalesce(to_batch, latest_batch), '[]'))
      ),
      'blocksPerNumber', coalesce(spread.blocks_per_number, recent.blocks),
      'perDay', recent.per_day,
      'blocksEach', recent.blocks,
      'pageItems', page.items
    )
    from etl.feeds
    join etl.covered_batches using (feed), lateral (
      -- A walk begins with the highest block of its batch, so batches that are being read count too.
      select (high.top - low.top)::float8 / nullif(high.batch - low.batch, 0) as blocks_per_number
      from (
        select batch, top from etl.walks
        where walks.feed = of_feed and batch >= from_batch and top is not null
        order by batch, top desc
        limit 1
      ) as low, (
        select batch, top from etl.walks
        where walks.feed = of_feed and batch <= coalesce(to_batch, latest_batch) and top is not null
        order by batch desc, top desc
        limit 1
      ) as high
    ) as spread, lateral (
      select 86400 * (count(timestamp) - 1)
               / nullif(extract(epoch from max(timestamp) - min(timestamp)), 0) as per_day,
             avg(blocks_count) as blocks
      from (
        -- A day of them.
        select blocks_count, (
          select timestamp from etl.batch_blocks as block
          where block.chain_id = feeds.chain_id
            and block.operation = feeds.operation
            and height = last_height
        ) as timestamp
        from etl.batch_states as batch
        where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0
        order by batch_number desc
        limit 200
      ) as newest
    ) as recent, lateral (
      select max(pages.items) as items
      from (
        select id from etl.walks
        where walks.feed = of_feed and pages > 1
        order by started_at desc
        limit 20
      ) as newest
      join etl.pages on walk_id = newest.id
    ) as page
    where feeds.feed = of_feed
  );
end
$$;

create or replace view etl.ranking_facts as
select feed, json_build_object('requests', (
  select avg(pages)
  from (
    select (select sum(pages) from etl.walks where walks.run_id = runs.id) as pages
    from etl.runs
    -- A ranking has no other lane; with it, an index has its runs in order.
    where runs.feed = feeds.feed and lane = 'backfill' and state = 'finished' and exists (
      select from etl.walks
      where walks.run_id = runs.id
        and walks.state = 'finished'
        and walks.reason is distinct from 'max-pages'
    )
    order by id desc
    limit 10
  ) as ranking
)) as facts
from etl.feeds
where kind = 'ranked';

comment on function etl.facts_of_list is 'The facts of one list, of etl.list_facts. As a function, like etl.batch_facts: a session plans it once, not in every status.';
comment on view etl.list_facts is 'What is known of a newest-first list, to estimate by: its open gaps, the newest first, how dense it is, and its pace. Times are ms since 1970.';
comment on function etl.pages_beside is 'The nearest five pages that begin above a gap, and the nearest five below it, which show how dense it may be. One that goes over the gap itself is none.';
comment on function etl.batch_facts is 'What is known of the numbers of a range, up to the latest known batch, to estimate by, and of the newest batches.';
comment on view etl.poll_facts is 'How many of the last hundred runs of a feed''s live lane, the first one left out, ended well, and the credits of one, on average.';
comment on view etl.ranking_facts is 'How many requests the last ten finished rankings took, on average; null before the first.';
