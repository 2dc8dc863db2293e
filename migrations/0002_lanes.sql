CREATE TABLE "etl"."late_arrivals" (
	"chain_id" bigint NOT NULL,
	"hash" text collate "C" NOT NULL,
	"block_number" bigint NOT NULL,
	"timestamp" timestamp with time zone,
	"seen_at" timestamp with time zone NOT NULL,
	"page_id" bigint NOT NULL,
	CONSTRAINT "late_arrivals_chain_id_hash_page_id_pk" PRIMARY KEY("chain_id","hash","page_id")
);
--> statement-breakpoint
ALTER TABLE "etl"."feeds" ADD COLUMN "frontier" bigint;--> statement-breakpoint
ALTER TABLE "etl"."pages" ADD COLUMN "is_ordered" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "etl"."walks" ADD COLUMN "batch" bigint GENERATED ALWAYS AS ((scope ->> 'batch')::bigint) STORED;--> statement-breakpoint
ALTER TABLE "etl"."walks" ADD COLUMN "depth_ms" bigint;--> statement-breakpoint
ALTER TABLE "etl"."walks" ADD COLUMN "from_head" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "etl"."walks" ADD COLUMN "is_ordered" boolean DEFAULT true NOT NULL;
--> statement-breakpoint
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
         walks.state = 'finished' and walks.reason = 'since'
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
       int8multirange(int8range(0, greatest(upper(covered), 0))) - covered
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
  where feeds.operation = 'user-operations' and user_operations.chain_id = feeds.chain_id
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
