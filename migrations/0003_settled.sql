ALTER TABLE "etl"."feeds" ADD COLUMN "asked" "int8multirange" DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "explorer"."optimism_batches" ADD COLUMN "is_proved" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "etl"."pages" ADD COLUMN "heights" "int8multirange";--> statement-breakpoint
CREATE INDEX "blocks_pending" ON "explorer"."blocks" USING btree ("optimism_batch_number","chain_id") WHERE is_pending_update;--> statement-breakpoint
CREATE INDEX "optimism_batches_unproved" ON "explorer"."optimism_batches" USING btree ("batch_number","chain_id") WHERE not is_proved;--> statement-breakpoint
CREATE INDEX "optimism_batches_heights" ON "explorer"."optimism_batches" USING gist (int8range("first_height", "last_height", '[]')) WHERE blocks_count > 0;--> statement-breakpoint
update etl.feeds
set asked = coalesce(
  (
    select range_agg(
      int8range((scope ->> 'from_batch')::bigint, (scope ->> 'to_batch')::bigint + 1)
    )
    from etl.ticks
    where ticks.chain_id = feeds.chain_id
      and ticks.operation = feeds.operation
      and scope ? 'from_batch'
      and coalesce((scope ->> 'to_batch')::bigint >= (scope ->> 'from_batch')::bigint, true)
  ),
  '{}'
)
where operation = 'optimism-batch-blocks';
--> statement-breakpoint
create view etl.asked_batches as
select chain_id, operation, numbers,
       (
         select batch_number
         from explorer.optimism_batches as batch
         where batch.chain_id = asked.chain_id
           and batch_number >= lower(numbers)
           and batch_number < upper(numbers)
           and state = 'settled'
         order by batch_number desc
         limit 1
       ) as settled_to
from (
  select chain_id, operation,
         case when upper_inf(range) then int8range(lower(range), frontier + 1) else range end as numbers
  from etl.feeds, unnest(asked) as range
  where not upper_inf(range) or frontier >= lower(range)
) as asked;
--> statement-breakpoint
create function etl.batches_meet(
  chain bigint, lower_height bigint, upper_height bigint
) returns boolean
language sql stable
return upper_height = lower_height + 1 and coalesce(
  (select hash from explorer.blocks where chain_id = chain and height = lower_height)
    = (select parent_hash from explorer.blocks where chain_id = chain and height = upper_height),
  false
);
--> statement-breakpoint
with neighbour as (
  select chain_id, batch_number, first_height, last_height, is_contiguous and is_linked as is_chain,
         lag(batch_number) over along as below, lag(last_height) over along as height_below,
         lead(batch_number) over along as above, lead(first_height) over along as height_above
  from explorer.optimism_batches
  where blocks_count > 0
  window along as (partition by chain_id order by batch_number)
), met as (
  select *,
         above is not null and etl.batches_meet(chain_id, last_height, height_above) as meets_above,
         case when below is null then batch_number = (
           select lower(range)
           from etl.feeds, unnest(asked) as range
           where feeds.chain_id = neighbour.chain_id and batch_number <@ range
         ) else etl.batches_meet(chain_id, height_below, first_height) end as meets_below
  from neighbour
), settled as (
  update explorer.optimism_batches as batch
  set state = 'settled', is_proved = true
  from met
  where batch.chain_id = met.chain_id
    and batch.batch_number = met.batch_number
    and is_chain and meets_above and meets_below
    and not exists (
      select from explorer.blocks
      where blocks.chain_id = met.chain_id
        and optimism_batch_number = met.batch_number
        and is_pending_update
    )
)
update explorer.optimism_batches as batch
set is_proved = true
from met
where meets_above
  and batch.chain_id = met.chain_id
  and batch.batch_number > met.batch_number
  and batch.batch_number < met.above;
--> statement-breakpoint
create view etl.batch_findings as
with asked as materialized (
  -- Once, not for each row that it is held against.
  select * from etl.asked_batches
), unread as (
  select chain_id, operation, missing
  from (
    select asked.chain_id, asked.operation,
           int8multirange(asked.numbers) - coalesce(
             range_agg(int8range(batch_number, batch_number + 1)) filter (where batch_number is not null),
             '{}'
           ) as missing
    from asked
    left join explorer.optimism_batches as batch
      on batch.chain_id = asked.chain_id
      and batch_number >= lower(asked.numbers)
      and batch_number < upper(asked.numbers)
    group by asked.chain_id, asked.operation, asked.numbers
  ) as difference
  where not isempty(missing)
), unproved as (
  select asked.chain_id, asked.operation, asked.numbers, asked.settled_to,
         batch_number, blocks_count, is_contiguous and is_linked as is_chain,
         (
           select count(*) from explorer.blocks
           where blocks.chain_id = batch.chain_id
             and optimism_batch_number = batch_number
             and is_pending_update
         ) as pending
  from asked
  join explorer.optimism_batches as batch
    on batch.chain_id = asked.chain_id
    and batch_number >= lower(asked.numbers)
    and batch_number < upper(asked.numbers)
    and not is_proved
), below as (
  select * from unproved where batch_number < settled_to
), borders as (
  select asked.chain_id, operation, lower_batch, upper_batch
  from explorer.broken_borders as border
  join asked
    on asked.chain_id = border.chain_id
    and lower_batch <@ asked.numbers
    and upper_batch <= settled_to
)
select chain_id, operation, int8multirange(range) as numbers,
       'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': not read' as finding
from unread, unnest(missing) as range
union all
select chain_id, operation, int8multirange(range),
       'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': read as empty, which nothing proves'
from (
  select chain_id, operation, range_agg(int8range(batch_number, batch_number + 1)) as empties
  from below
  where blocks_count = 0
  group by chain_id, operation
) as suspect, unnest(empties) as range
union all
select chain_id, operation, int8multirange(int8range(batch_number, batch_number + 1)),
       'batch ' || batch_number || ': heights or hashes inside it do not meet'
from below
where blocks_count > 0 and is_chain is not true
union all
select chain_id, operation, int8multirange(int8range(batch_number, batch_number + 1)),
       'batch ' || batch_number || ': ' || pending || ' blocks await an update'
from below
where pending > 0
union all
select chain_id, operation,
       int8multirange(
         int8range(lower_batch, lower_batch + 1), int8range(upper_batch, upper_batch + 1)
       ),
       'border of batches ' || lower_batch || ' and ' || upper_batch
         || ': heights or hashes do not meet'
from borders
union all
select chain_id, operation, int8multirange(int8range(batch_number, batch_number + 1)),
       'batch ' || batch_number || ': not settled'
from below
where blocks_count > 0 and is_chain and pending = 0
  and not exists (select from unread where unread.chain_id = below.chain_id)
  and not exists (
    select from borders
    where borders.chain_id = below.chain_id and batch_number in (lower_batch, upper_batch)
  )
union all
select chain_id, operation, range_agg(int8range(batch_number, batch_number + 1)),
       'batches ' || min(batch_number) || ' to ' || max(batch_number) || ': none of them is settled'
from unproved
where settled_to is null and blocks_count > 0
group by chain_id, operation, numbers
having count(*) >= 3;
--> statement-breakpoint
create view etl.batch_heads as
with asked as materialized (
  select * from etl.asked_batches
)
select asked.chain_id, asked.operation, batch_number,
       case
         when (is_contiguous and is_linked) is false then 'the rest of their blocks'
         when exists (
           select from explorer.blocks
           where blocks.chain_id = batch.chain_id
             and optimism_batch_number = batch_number
             and is_pending_update
         ) then 'an update'
         else 'the next batch'
       end as waits_for
from asked
join explorer.optimism_batches as batch
  on batch.chain_id = asked.chain_id
  and batch_number >= coalesce(settled_to, lower(asked.numbers))
  and batch_number < upper(asked.numbers)
  and not is_proved;
--> statement-breakpoint
COMMENT ON FUNCTION etl.batches_meet IS 'Whether the block at the upper height stands on the one at the lower: heights follow each other, and the parent hash is the hash below.';
COMMENT ON VIEW etl.asked_batches IS 'Per feed of Optimism batches, the ranges of numbers that were asked for and exist by now, and the highest settled batch of each.';
COMMENT ON VIEW etl.batch_findings IS 'All that keeps feeds of Optimism batches from being complete, with the numbers to read for it.';
COMMENT ON VIEW etl.batch_heads IS 'Batches above the highest settled one of their range, which are read and not proved yet, and what they wait for.';
COMMENT ON COLUMN etl.feeds."asked" IS 'Batch numbers that were ever asked for, by configuration or flags; without an upper end where all to come were. Empty for other feeds.';
COMMENT ON COLUMN etl.pages."heights" IS 'Heights of the page''s rows, for pages of Optimism batches: what a finished walk did not serve is no longer in its batch. Null for others.';
COMMENT ON COLUMN explorer.optimism_batches."is_proved" IS 'Whether the chain proves what the row says: the batch is settled, or it is empty and the nearest batches with blocks on both sides meet in height and hash. What is proved is not read again.';
COMMENT ON COLUMN explorer.optimism_batches."state" IS 'settled: proved whole by the chain: heights contiguous, hashes linked, no block awaits an update, and it meets the nearest batches with blocks on both sides. open: read, and may still change. empty: the list held no block, which is also the answer for a number that does not exist.';
COMMENT ON COLUMN explorer.optimism_batches."walked_at" IS 'When the walk ended that last changed this row or first told of it, by the database''s clock.';
