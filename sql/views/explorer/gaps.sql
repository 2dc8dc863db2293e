create or replace view explorer.gaps as
select chain_id, operation, feed, lower(gap) as from_block, upper(gap) - 1 as to_block, unit,
       (select timestamp from etl.items_below(chain_id, operation, lower(gap) - 1)) as from_at,
       (select timestamp from etl.items_above(chain_id, operation, upper(gap))) as to_at
from etl.feed_gaps
join etl.feeds using (feed)
where feed in (select feed from etl.wanted_feeds where is_wanted)
union all
select chain_id, operation, feed, lower(gap), upper(gap) - 1, 'batches',
       (
         select max(timestamp) from etl.batch_blocks as block
         where block.chain_id = target.chain_id and block.operation = target.operation and height = (
           select last_height from etl.batch_states as batch
           where batch.chain_id = target.chain_id and batch.operation = target.operation and blocks_count > 0 and batch_number < lower(gap)
           order by batch_number desc limit 1
         )
       ),
       (
         select min(timestamp) from etl.batch_blocks as block
         where block.chain_id = target.chain_id and block.operation = target.operation and height = (
           select first_height from etl.batch_states as batch
           where batch.chain_id = target.chain_id and batch.operation = target.operation and blocks_count > 0 and batch_number >= upper(gap)
           order by batch_number limit 1
         )
       )
from (
  select chain_id, operation, feed, range_agg(missing) as missing
  from (
    -- Above the highest settled one they wait for the next batch, and nothing is missing but what has a finding.
    select target.chain_id, target.operation, feed,
           int8multirange(int8range(lower(numbers), coalesce(settled_to + 1, upper(numbers)))) - verified as missing
    from etl.target_batches as target
    join etl.complete_batches using (feed)
    union all
    -- Also while the newest batch is searched, when nothing says how far the list goes.
    select chain_id, operation, feed, doubted
    from etl.complete_batches
    join etl.feeds using (feed)
  ) as part
  group by chain_id, operation, feed
) as target, unnest(missing) as gap
where feed in (select feed from etl.wanted_feeds where is_wanted)
union all
select chain_id, operation, feed, null, null, 'ranking', null, null
from etl.feeds
where kind = 'ranked' and feed in (select feed from etl.wanted_feeds where is_wanted) and not exists (
  select from etl.rankings where rankings.feed = feeds.feed
)
union all
select chain_id, operation, feed, null, null, unit, null, null
from etl.feeds
join etl.feed_coverage using (feed)
where highest is null and not is_empty
  and feed in (select feed from etl.wanted_feeds where is_wanted);

comment on view explorer.gaps is 'What is wanted and not verified complete: a row for each range of blocks or batches (see unit), and one for a list that was never read. The place of each open finding of a wanted feed is here. Those of items in quarantine are neither here nor in coverage: no walk closes them.';
comment on column explorer.gaps.chain_id is 'Number of the chain.';
comment on column explorer.gaps.operation is 'Name of the operation.';
comment on column explorer.gaps.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.gaps.from_block is 'First block, or batch. Null: all positions.';
comment on column explorer.gaps.to_block is 'Last block, or batch. Null: all positions.';
comment on column explorer.gaps.unit is 'What is counted: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.gaps.from_at is 'Time of the nearest item below it, UTC: the gap begins after it. Null: nothing is stored there.';
comment on column explorer.gaps.to_at is 'Time of the nearest item above it, UTC: the gap ends before it. Null: nothing is stored there.';
