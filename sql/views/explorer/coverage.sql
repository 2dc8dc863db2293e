create or replace view explorer.coverage as
select chain_id, operation, feed, from_block, to_block, as_of, newest_as_of, unit,
       (
         select timestamp from etl.items_above(chain_id, operation, from_block) where height <= to_block
       ) as from_at,
       (
         select timestamp from etl.items_below(chain_id, operation, to_block)
         where height >= from_block
       ) as to_at
from (
  select feed, lower(range) as from_block, upper(range) - 1 as to_block, as_of, newest_as_of
  from etl.covered_ranges
) as covered
join etl.feeds using (feed)
union all
select feeds.chain_id, operation, feed, from_batch, to_batch,
       (
         select min(walked_at) from etl.batch_states as batch
         where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation
           and batch_number between from_batch and to_batch
       ),
       (
         select max(walked_at) from etl.batch_states as batch
         where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation
           and batch_number between from_batch and to_batch
       ),
       'batches',
       (
         select min(timestamp) from etl.batch_blocks as block
         where block.chain_id = feeds.chain_id and block.operation = feeds.operation and batch_number = (
           select min(batch_number) from etl.batch_states as batch
           where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0 and batch_number >= from_batch
         )
       ),
       (
         select max(timestamp) from etl.batch_blocks as block
         where block.chain_id = feeds.chain_id and block.operation = feeds.operation and batch_number = (
           select max(batch_number) from etl.batch_states as batch
           where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0 and batch_number <= to_batch
         )
       )
from etl.feeds
join etl.complete_batches using (feed), lateral (
  select lower(range) as from_batch, upper(range) - 1 as to_batch
  from unnest(verified - held) as range
) as verified
union all
select chain_id, operation, feed, null, null, as_of, newest_as_of, 'ranking', null, null
from etl.complete_rankings
join etl.feeds using (feed);

comment on view explorer.coverage is 'What is complete, as of a time: nothing is missing that the explorer listed then. One row for each range (see unit) and each whole ranking, without the blocks, batch or ranking that can contain a quarantined item, and without what explorer.findings calls open. Dropped items are in that view too.';
comment on column explorer.coverage.chain_id is 'Number of the chain.';
comment on column explorer.coverage.operation is 'Name of the operation.';
comment on column explorer.coverage.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.coverage.from_block is 'First block, or batch. Null: a ranking.';
comment on column explorer.coverage.to_block is 'Last block, or batch. Null: a ranking.';
comment on column explorer.coverage.as_of is 'When the oldest of the walks that verify it began; of batches when it ended.';
comment on column explorer.coverage.newest_as_of is 'The same of the newest of them.';
comment on column explorer.coverage.unit is 'What is counted: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.coverage.from_at is 'Time of the first item in it, UTC. Null: there is none, or it reports none.';
comment on column explorer.coverage.to_at is 'Time of the last item in it, UTC. Null: there is none, or it reports none.';
