alter table etl.walks
add column proved int8multirange default '{}' not null,
add column stretch_top bigint,
add column cuts bigint default 0 not null;
--> statement-breakpoint
alter table etl.pages
add column is_joined boolean default true not null,
add column misplaced integer[],
add column jumped int8range;
--> statement-breakpoint
create index pages_jumped on etl.pages (walk_id) where jumped is not null;
--> statement-breakpoint
drop view explorer.freshness;
--> statement-breakpoint
drop view explorer.gaps;
--> statement-breakpoint
drop view explorer.coverage;
--> statement-breakpoint
drop view etl.feed_gaps;
--> statement-breakpoint
drop view etl.feed_coverage;
--> statement-breakpoint
drop function etl.proven_range;
--> statement-breakpoint
create or replace view etl.open_rereads as
select chain_id, operation, after_walk,
       blocks - coalesce(
         (
           select range_agg(
             proved + case when from_head then int8multirange(int8range(top, null)) else '{}' end
           )
           from etl.walks
           where walks.chain_id = rereads.chain_id
             and walks.operation = rereads.operation
             and walks.id > after_walk
             and top is not null
         ),
         '{}'
       ) as blocks
from etl.rereads
where blocks is not null
union all
select chain_id, operation, after_walk, null
from etl.rereads
where blocks is null
  and not exists (
    select from etl.censuses
    where censuses.chain_id = rereads.chain_id and walk_id > after_walk
  );
--> statement-breakpoint
alter view etl.batch_findings rename to batch_state_findings;
--> statement-breakpoint
create view etl.batch_findings as
select chain_id, operation, numbers, finding from etl.batch_state_findings
union all
select chain_id, operation, numbers, finding from etl.block_findings;
--> statement-breakpoint
create view etl.feed_coverage as
select feeds.chain_id, feeds.operation, feeds.feed,
       proof.covered * int8multirange(int8range(null, head.top))
         - etl.blocks_to_reread(feeds.chain_id, feeds.operation) as covered,
       least(proof.highest, head.top) as highest,
       proof.reached_since
from etl.feeds
left join lateral (
  select range_agg(proved) as covered,
         max(top) as highest,
         min(bottom) filter (
           where state = 'finished' and reason = 'since'
             and (feeds.settings ->> 'since')::timestamptz >= (scope ->> 'since')::timestamptz
         ) as reached_since
  from etl.walks
  where walks.chain_id = feeds.chain_id and walks.operation = feeds.operation and top is not null
) as proof on true
left join lateral (
  select top
  from etl.walks
  where walks.chain_id = feeds.chain_id
    and walks.operation = feeds.operation
    and from_head
    and top is not null
  order by started_at desc, id desc
  limit 1
) as head on true
where feeds.operation = 'user-operations';
--> statement-breakpoint
create view etl.feed_gaps as
select chain_id, operation, feed, gap
from etl.feed_coverage
join etl.feeds using (chain_id, operation, feed),
     unnest(
       int8multirange(int8range(
         least(coalesce(reached_since, 0), coalesce(highest, 0)), coalesce(highest, 0)
       )) + etl.blocks_to_reread(chain_id, operation) - coalesce(covered, '{}')
     ) as gap
where coalesce(
  (
    select timestamp
    from explorer.user_operations
    where user_operations.chain_id = feed_coverage.chain_id
      and block_number >= upper(gap) - 1
      and timestamp is not null
    order by block_number, hash
    limit 1
  ) >= (settings ->> 'since')::timestamptz,
  true
);
--> statement-breakpoint
create view explorer.coverage as
select chain_id, operation, feed,
       lower(range) as from_block,
       upper(range) - 1 as to_block,
       look.oldest as as_of,
       look.newest as newest_as_of
from etl.feed_coverage
left join lateral (
  select range_agg(int8range(coalesce(from_block, 0), to_block, '[]')) as blocks
  from etl.quarantine
  where quarantine.chain_id = feed_coverage.chain_id
    and quarantine.operation = feed_coverage.operation
    and dropped_at is null
    and to_block is not null
) as quarantined on true,
lateral unnest(covered - coalesce(quarantined.blocks, '{}')) as range, lateral (
  select min(started_at) as oldest, max(started_at) as newest
  from etl.walks
  where walks.chain_id = feed_coverage.chain_id
    and walks.operation = feed_coverage.operation
    and proved && range
) as look;
--> statement-breakpoint
create view explorer.gaps as
select chain_id, operation, feed, lower(gap) as from_block, upper(gap) - 1 as to_block
from etl.feed_gaps;
--> statement-breakpoint
create view explorer.freshness as
select feeds.chain_id, feeds.operation, feeds.feed,
       newest.block_number as newest_block,
       newest.timestamp as newest_at,
       now() - newest.timestamp as lag,
       feeds.last_success_at,
       upper(feed_coverage.covered) - 1 as covered_to
from etl.feeds
left join etl.feed_coverage using (chain_id, operation)
left join lateral (
  select block_number, timestamp
  from explorer.user_operations
  where feeds.operation = 'user-operations'
    and user_operations.chain_id = feeds.chain_id
    and block_number is not null
  order by block_number desc
  limit 1
) as newest on true;
--> statement-breakpoint
comment on column etl.walks.proved is 'Blocks of which the walk''s pages prove that all items are here: what lies between the highest and the lowest item of pages that follow each other, both excluded. Empty for other kinds of list.';
comment on column etl.walks.stretch_top is 'Highest block of the pages that the next page goes on from. Null: it begins anew, so that nothing is proved across.';
comment on column etl.walks.cuts is 'Places at which the walk''s pages prove nothing: out of order, not what was asked for, empty in the middle of the list, or skipping stored rows.';
comment on column etl.walks.top is 'Highest block on the walk''s pages that other witnesses bear out. Null: none.';
comment on column etl.walks.bottom is 'Lowest block on the walk''s pages that other witnesses bear out. Null: none.';
comment on column etl.pages.is_joined is 'Whether its first item is the one that the page before led to, so that nothing is missing between the two.';
comment on column etl.pages.misplaced is 'Items whose block the page''s other items or its neighbours contradict, counted from 0: their rows don''t tell it. Null: none.';
comment on column etl.pages.jumped is 'Blocks of stored operations that the page skips, more than leave a list at once: it proves nothing, and removes nothing unless another walk skips the same. Null: none.';
comment on view etl.feed_coverage is 'Per feed of user operations, the blocks that its walks prove complete, together: nothing above the newest block that the newest walk from the head met, and none whose rows were damaged and not read again since.';
comment on view etl.batch_state_findings is 'What keeps feeds of batches from being complete by what their walks concluded: what is not read or not proved.';
comment on view etl.batch_findings is 'Each thing that keeps a feed of batches from being complete: what is not read or proved, and proved batches whose blocks are not what was read.';
comment on view etl.feed_gaps is 'Per feed of user operations, the wanted blocks below the covered top that no walk proves.';
comment on view explorer.coverage is 'Ranges of blocks whose user operations are complete, as of a time. Nothing is missing inside them that the explorer listed then. Blocks in which an item stands in quarantine are left out; one that a person dropped from there is told of by explorer-etl verify.';
comment on column explorer.coverage.chain_id is 'Number of the chain.';
comment on column explorer.coverage.operation is 'Name of the operation.';
comment on column explorer.coverage.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.coverage.from_block is 'First block of the range.';
comment on column explorer.coverage.to_block is 'Last block of the range.';
comment on column explorer.coverage.as_of is 'When the oldest of the walks that prove the range began.';
comment on column explorer.coverage.newest_as_of is 'When the newest of the walks that prove some of the range began.';
comment on view explorer.gaps is 'Ranges of blocks whose user operations are not proved complete. Those of items in quarantine are neither here nor in coverage: no walk closes them.';
comment on column explorer.gaps.chain_id is 'Number of the chain.';
comment on column explorer.gaps.operation is 'Name of the operation.';
comment on column explorer.gaps.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.gaps.from_block is 'First block of the gap.';
comment on column explorer.gaps.to_block is 'Last block of the gap.';
comment on view explorer.freshness is 'How current each feed is.';
comment on column explorer.freshness.chain_id is 'Number of the chain.';
comment on column explorer.freshness.operation is 'Name of the operation.';
comment on column explorer.freshness.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.freshness.newest_block is 'Block of the newest user operation. Null for other feeds, or where there is none.';
comment on column explorer.freshness.newest_at is 'Time of that operation, UTC. Null: not told.';
comment on column explorer.freshness.lag is 'How long ago that was.';
comment on column explorer.freshness.last_success_at is 'When a tick of the feed last finished. Null: never.';
comment on column explorer.freshness.covered_to is 'Highest block that is proved complete. Null: none, or not a feed of user operations.';
