create or replace view explorer.freshness as
select feeds.chain_id, feeds.operation, feeds.feed,
       newest.height as newest_block,
       newest.timestamp as newest_at,
       greatest(now() - newest.timestamp, interval '0') as lag,
       feeds.last_success_at,
       case kind when 'numbered' then covered.covered_to
                 else (
                   select max(upper(range)) - 1 from etl.covered_ranges
                   where covered_ranges.feed = feeds.feed
                 ) end as covered_to,
       case kind when 'ranked' then 'ranking' when 'numbered' then 'batches' else unit end as unit,
       coalesce(polled.at, read_first.at) as looked_at,
       make_interval(secs => (settings ->> 'freshness')::float8 / 1000) as objective,
       case when settings ->> 'freshness' is not null then coalesce(
         now() - coalesce(polled.at, read_first.at) <= make_interval(secs => (settings ->> 'freshness')::float8 / 1000), false
       ) end as is_fresh,
       (select is_wanted from etl.wanted_feeds where wanted_feeds.feed = feeds.feed) as is_wanted
from etl.feeds
-- A ranking is read whole each time, by the lane of history.
cross join lateral (select case kind when 'ranked' then 'backfill' else 'live' end as lane) as own
left join lateral (
  select batch_number as covered_to
  from etl.complete_batches, unnest(verified - held) as range, lateral (
    select batch_number from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch_number >= lower(range)
      and batch_number < upper(range)
      and state = 'settled'
    order by batch_number desc
    limit 1
  ) as highest
  where kind = 'numbered' and complete_batches.feed = feeds.feed
  order by range desc
  limit 1
) as covered on true
left join lateral (
  select opened_at as at from etl.runs
  where state = 'finished' and (feed, lane, id) <= (feeds.feed, own.lane, 9223372036854775807)
    and (feed, lane, id) >= (feeds.feed, own.lane, 0)
    -- A ranking that a bound or an empty page cut is not stored.
    and (kind <> 'ranked' or (
      select reason from etl.walks where run_id = runs.id order by walks.id desc limit 1
    ) is null)
  order by feed desc, lane desc, id desc
  limit 1
) as polled on true
left join lateral (
  -- The first reading of a history begins at the head, and then nothing is left to poll.
  select min(opened_at) as at from etl.runs
  where polled.at is null and runs.feed = feeds.feed and state = 'finished' and kind <> 'ranked'
) as read_first on true
left join lateral (
  select height, timestamp from etl.newest_item(feeds.chain_id, feeds.operation)
  where kind = 'newest-first'
  union all
  select batch_number, (
    select timestamp from etl.batch_blocks as block
    where block.chain_id = feeds.chain_id and block.operation = feeds.operation and height = last_height
  )
  from (
    select batch_number, last_height from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0
    order by batch_number desc
    limit 1
  ) as newest_batch
  where kind = 'numbered'
  union all
  select null, max(as_of) from etl.rankings where kind = 'ranked' and rankings.feed = feeds.feed
) as newest on newest.height is not null or newest.timestamp is not null;

comment on view explorer.freshness is 'How current each feed is.';
comment on column explorer.freshness.chain_id is 'Number of the chain.';
comment on column explorer.freshness.operation is 'Name of the operation.';
comment on column explorer.freshness.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.freshness.newest_block is 'Block, or batch, of the newest item. Null: there is none, or the list is a ranking.';
comment on column explorer.freshness.newest_at is 'Time of that item, UTC, or of the next one if its neighbours contradict it; of a ranking when it was read. Null: not reported.';
comment on column explorer.freshness.lag is 'How long ago that was; 0: it has not come. A chain on which nothing happens lags, though all of it is there: see looked_at.';
comment on column explorer.freshness.last_success_at is 'When a run of the feed last finished. Null: never.';
comment on column explorer.freshness.covered_to is 'Highest block that is verified complete, or highest batch that is settled and has no finding. Null: none, or the list is a ranking.';
comment on column explorer.freshness.unit is 'What is counted: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.freshness.looked_at is 'When the last run began that went to the head of the list and finished: what the explorer listed then is stored. Null: none has.';
comment on column explorer.freshness.objective is 'How long ago looked_at may be, as configured for the feed (freshness). Null: nothing is configured.';
comment on column explorer.freshness.is_fresh is 'Whether the objective holds now. Null: there is none.';
comment on column explorer.freshness.is_wanted is 'False: no deployment wants it.';
