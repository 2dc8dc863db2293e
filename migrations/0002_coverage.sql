create function etl.proven_range(
  kind text, is_ordered boolean, state text, reason text, top bigint, bottom bigint
) returns int8range
language sql immutable
return case
  when kind = 'sweep' and is_ordered and top is not null then
    int8range(
      least(case when state = 'finished' and reason is null then 0 else bottom + 1 end, top),
      top
    )
end;
--> statement-breakpoint
create view etl.feed_coverage as
select feeds.chain_id, feeds.operation, feeds.feed,
       range_agg(etl.proven_range(kind, is_ordered, walks.state, walks.reason, top, bottom)) as covered,
       max(top) filter (where is_ordered) as highest,
       bool_or(
         is_ordered and walks.state = 'finished' and walks.reason = 'since'
         and (feeds.settings ->> 'since')::timestamptz >= (scope ->> 'since')::timestamptz
       ) as reached_since
from etl.feeds
left join etl.walks
  on walks.chain_id = feeds.chain_id and walks.operation = feeds.operation and walks.top is not null
where feeds.operation = 'user-operations'
group by feeds.chain_id, feeds.operation, feeds.feed;
--> statement-breakpoint
create view etl.feed_gaps as
select chain_id, operation, feed, gap
from etl.feed_coverage,
     unnest(
       int8multirange(int8range(0, coalesce(highest, 0))) - covered
     ) as gap
where not (lower(gap) = 0 and coalesce(reached_since, false));
--> statement-breakpoint
create view explorer.coverage as
select chain_id, operation, feed,
       lower(range) as from_block,
       upper(range) - 1 as to_block,
       (
         select min(started_at)
         from etl.walks
         where walks.chain_id = feed_coverage.chain_id
           and walks.operation = feed_coverage.operation
           and etl.proven_range(kind, is_ordered, state, reason, top, bottom) && range
       ) as as_of
from etl.feed_coverage, unnest(covered) as range;
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
create view explorer.late_arrivals as
select chain_id, hash, block_number, timestamp, seen_at, seen_at - timestamp as lateness, page_id
from etl.late_arrivals;
--> statement-breakpoint
create view explorer.broken_borders as
with numbered as (
  select *, row_number() over (partition by chain_id order by batch_number) as place
  from explorer.optimism_batches
), bordered as (
  select chain_id, batch_number as lower_batch, last_height, place,
         lead(batch_number) over below as upper_batch,
         lead(first_height) over below as first_height,
         lead(place) over below as upper_place
  from numbered
  where blocks_count > 0
  window below as (partition by chain_id order by batch_number)
)
select bordered.chain_id, lower_batch, upper_batch, last_height, first_height,
       last_block.hash as last_hash, first_block.parent_hash
from bordered
left join explorer.blocks as last_block
  on last_block.chain_id = bordered.chain_id and last_block.height = last_height
left join explorer.blocks as first_block
  on first_block.chain_id = bordered.chain_id and first_block.height = first_height
where upper_batch - lower_batch = upper_place - place
  and (first_height = last_height + 1 and last_block.hash = first_block.parent_hash) is not true;
--> statement-breakpoint
create function etl.note_reorg() returns trigger
language plpgsql as $$
begin
  insert into explorer.block_reorgs (chain_id, height, old_hash, new_hash, observed_at, page_id)
  values (new.chain_id, new.height, old.hash, new.hash, now(), new.page_id)
  on conflict do nothing;
  return null;
end
$$;
--> statement-breakpoint
create trigger note_reorg
after update of hash on explorer.blocks
for each row when (old.hash <> new.hash)
execute function etl.note_reorg();
--> statement-breakpoint
COMMENT ON FUNCTION etl.note_reorg IS 'Records every hash that another one replaces at its height, whatever wrote the block.';
--> statement-breakpoint
COMMENT ON FUNCTION etl.proven_range IS 'The block numbers that a walk proves complete: those that its pages went past.';
COMMENT ON VIEW etl.feed_coverage IS 'Per feed of user operations, the blocks that its walks prove complete, together.';
COMMENT ON VIEW etl.feed_gaps IS 'Per feed of user operations, the wanted blocks below the covered top that no walk proves.';
--> statement-breakpoint
COMMENT ON VIEW explorer.coverage IS 'Ranges of blocks whose user operations are complete, as of a time. Nothing is missing inside them that the explorer listed then.';
COMMENT ON COLUMN explorer.coverage."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.coverage."operation" IS 'Name of the operation.';
COMMENT ON COLUMN explorer.coverage."feed" IS 'Name of the feed, such as 10/user-operations.';
COMMENT ON COLUMN explorer.coverage."from_block" IS 'First block of the range.';
COMMENT ON COLUMN explorer.coverage."to_block" IS 'Last block of the range.';
COMMENT ON COLUMN explorer.coverage."as_of" IS 'When the oldest of the walks that prove the range began.';
COMMENT ON VIEW explorer.gaps IS 'Ranges of blocks whose user operations are not proved complete.';
COMMENT ON COLUMN explorer.gaps."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.gaps."operation" IS 'Name of the operation.';
COMMENT ON COLUMN explorer.gaps."feed" IS 'Name of the feed, such as 10/user-operations.';
COMMENT ON COLUMN explorer.gaps."from_block" IS 'First block of the gap.';
COMMENT ON COLUMN explorer.gaps."to_block" IS 'Last block of the gap.';
COMMENT ON VIEW explorer.freshness IS 'How current each feed is.';
COMMENT ON COLUMN explorer.freshness."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.freshness."operation" IS 'Name of the operation.';
COMMENT ON COLUMN explorer.freshness."feed" IS 'Name of the feed, such as 10/user-operations.';
COMMENT ON COLUMN explorer.freshness."newest_block" IS 'Block of the newest user operation. Null for other feeds, or where there is none.';
COMMENT ON COLUMN explorer.freshness."newest_at" IS 'Time of that operation, UTC. Null: not told.';
COMMENT ON COLUMN explorer.freshness."lag" IS 'How long ago that was.';
COMMENT ON COLUMN explorer.freshness."last_success_at" IS 'When a tick of the feed last finished. Null: never.';
COMMENT ON COLUMN explorer.freshness."covered_to" IS 'Highest block that is proved complete. Null: none, or not a feed of user operations.';
COMMENT ON VIEW explorer.late_arrivals IS 'User operations that appeared in blocks which had been proved complete without them.';
COMMENT ON COLUMN explorer.late_arrivals."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.late_arrivals."hash" IS 'Hash of the operation.';
COMMENT ON COLUMN explorer.late_arrivals."block_number" IS 'Block in which it appeared.';
COMMENT ON COLUMN explorer.late_arrivals."timestamp" IS 'Its own time, UTC. Null: not told.';
COMMENT ON COLUMN explorer.late_arrivals."seen_at" IS 'When it was first stored.';
COMMENT ON COLUMN explorer.late_arrivals."lateness" IS 'Between its own time and its first sight: an overlap of this length would have caught it.';
COMMENT ON COLUMN explorer.late_arrivals."page_id" IS 'etl.pages.id of the page that brought it.';
COMMENT ON VIEW explorer.broken_borders IS 'Neighbouring Optimism batches, all numbers between them read, whose heights or hashes do not meet.';
COMMENT ON COLUMN explorer.broken_borders."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN explorer.broken_borders."lower_batch" IS 'The batch below the border.';
COMMENT ON COLUMN explorer.broken_borders."upper_batch" IS 'The next batch above it that has blocks.';
COMMENT ON COLUMN explorer.broken_borders."last_height" IS 'Highest block of the lower batch.';
COMMENT ON COLUMN explorer.broken_borders."first_height" IS 'Lowest block of the upper batch.';
COMMENT ON COLUMN explorer.broken_borders."last_hash" IS 'Hash of the lower batch''s highest block.';
COMMENT ON COLUMN explorer.broken_borders."parent_hash" IS 'Parent hash of the upper batch''s lowest block.';
