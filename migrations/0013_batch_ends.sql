create table "etl"."batch_sights" (
	"chain_id" bigint not null,
	"batch_number" bigint not null,
	"top" bigint,
	"bottom" bigint,
	"parent_hash" text collate "C",
	"sights" integer default 0 not null,
	"walk_id" bigint not null,
	"tick_id" bigint not null,
	constraint "batch_sights_chain_id_batch_number_pk" primary key ("chain_id","batch_number")
);
--> statement-breakpoint
create table "etl"."askings" (
	"id" bigserial primary key not null,
	"chain_id" bigint not null,
	"operation" text not null,
	"asked" int8multirange not null,
	"last_tick" bigint not null,
	"asked_at" timestamp with time zone default now() not null
);
--> statement-breakpoint
create index "askings_feed" on "etl"."askings" using btree ("chain_id","operation","id");
--> statement-breakpoint
-- What was proved before stays so: each end counts as seen twice where the blocks stored begin and end.
insert into etl.batch_sights (chain_id, batch_number, top, bottom, parent_hash, sights, walk_id, tick_id)
select chain_id, batch_number, last_height, first_height, (
  select parent_hash from explorer.blocks
  where blocks.chain_id = batch.chain_id and height = first_height
), 2, 0, 0
from explorer.optimism_batches as batch;
--> statement-breakpoint
insert into etl.askings (chain_id, operation, asked, last_tick, asked_at)
select chain_id, operation, asked, 0, '-infinity' from etl.feeds where not isempty(asked);
--> statement-breakpoint
create function etl.note_asking() returns trigger
language plpgsql as $$
begin
  insert into etl.askings (chain_id, operation, asked, last_tick)
  select new.chain_id, new.operation, new.asked, coalesce(max(id), 0)
  from etl.ticks;
  return null;
end
$$;
--> statement-breakpoint
create trigger note_asking
after update of asked on etl.feeds
for each row when (old.asked <> new.asked)
execute function etl.note_asking();
--> statement-breakpoint
drop view etl.batch_findings;
--> statement-breakpoint
drop view etl.batch_heads;
--> statement-breakpoint
create view etl.unproved_batches as
select *,
       not meets_below and (below is null or below < floor) as is_lowest,
       case
         when blocks_count = 0 then 'whole'
         when not is_chain or sights = 0 or bottom is distinct from first_height then 'whole'
         when below >= floor and not meets_below then 'whole'
         when pending > 0 or not meets_above or top is distinct from last_height then 'top'
         when is_contested_above then 'top'
         else 'bottom'
       end as wants
from (
  select batch.chain_id, batch.batch_number, blocks_count, batch.first_height, batch.last_height,
         (is_contiguous and is_linked) is true as is_chain,
         coalesce(sight.sights, 0) as sights, sight.top, sight.bottom,
         asked.floor, below.batch_number as below, above.batch_number as above,
         etl.batches_meet(batch.chain_id, below.last_height, batch.first_height) is true as meets_below,
         etl.batches_meet(batch.chain_id, batch.last_height, above.first_height) is true as meets_above,
         coalesce(sight_below.sights > 0 and sight_below.top is distinct from below.last_height, false)
           as is_contested_below,
         coalesce(sight_above.sights > 0 and sight_above.bottom is distinct from above.first_height, false)
           as is_contested_above,
         (
           select count(*) from explorer.blocks
           where blocks.chain_id = batch.chain_id
             and optimism_batch_number = batch.batch_number
             and is_pending_update
         ) as pending
  from explorer.optimism_batches as batch
  left join etl.batch_sights as sight
    on sight.chain_id = batch.chain_id and sight.batch_number = batch.batch_number
  left join lateral (
    select lower(range) as floor
    from etl.feeds, unnest(asked) as range
    where feeds.chain_id = batch.chain_id
      and operation = 'optimism-batch-blocks'
      and batch.batch_number <@ range
  ) as asked on true
  left join lateral (
    select other.batch_number, other.last_height
    from explorer.optimism_batches as other
    where other.chain_id = batch.chain_id
      and other.blocks_count > 0
      and other.batch_number < batch.batch_number
    order by other.batch_number desc
    limit 1
  ) as below on true
  left join lateral (
    select other.batch_number, other.first_height
    from explorer.optimism_batches as other
    where other.chain_id = batch.chain_id
      and other.blocks_count > 0
      and other.batch_number > batch.batch_number
    order by other.batch_number
    limit 1
  ) as above on true
  left join etl.batch_sights as sight_below
    on sight_below.chain_id = batch.chain_id and sight_below.batch_number = below.batch_number
  left join etl.batch_sights as sight_above
    on sight_above.chain_id = batch.chain_id and sight_above.batch_number = above.batch_number
  where not is_proved
) as standing;
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
), unproved as materialized (
  select asked.operation, asked.numbers, asked.settled_to, standing.*
  from asked
  join etl.unproved_batches as standing
    on standing.chain_id = asked.chain_id
    and batch_number >= lower(asked.numbers)
    and batch_number < upper(asked.numbers)
), below as (
  select * from unproved where batch_number < settled_to
), overdue as (
  -- A head is few: what is above waits for what is to come. So many wait for something else.
  select chain_id, operation, numbers, settled_to,
         count(*) as batches, min(batch_number) as lowest, max(batch_number) as highest
  from unproved
  where blocks_count > 0 and (settled_to is null or batch_number > settled_to)
  group by chain_id, operation, numbers, settled_to
  having count(*) > 3 or (settled_to is null and count(*) = 3)
), held_up as (
  -- Those that the others wait for.
  select *
  from (
    select unproved.*,
           row_number() over (
             partition by unproved.chain_id, unproved.numbers order by batch_number
           ) as place
    from unproved
    join overdue using (chain_id, operation, numbers)
    where blocks_count > 0 and batch_number >= lowest
  ) as head
  where place <= 3
), borders as (
  select asked.chain_id, operation, lower_batch, upper_batch
  from explorer.broken_borders as border
  join asked on asked.chain_id = border.chain_id and lower_batch <@ asked.numbers
  where upper_batch <= settled_to
    or exists (
      select from held_up
      where held_up.chain_id = border.chain_id and held_up.batch_number = upper_batch
    )
), causes as (
  select chain_id, operation, batch_number,
         int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
         unnest(array_remove(array[
           case when orphans > 1 or (orphans = 1 and is_chain)
                then orphans || ' blocks tell no parent hash' end,
           case when not is_chain and orphans <= 1 then 'heights or hashes inside it do not meet' end,
           case when pending > 0 then pending || ' blocks await an update' end,
           case when sights > 0 and is_chain and bottom is distinct from first_height
                then 'its list ends above its lowest block' end,
           case when sights = 0 then 'it was never read in order and to its end' end
         ], null)) as cause
  from (
    select *, (
      select count(*) from explorer.blocks
      where blocks.chain_id = doubtful.chain_id
        and optimism_batch_number = batch_number
        and parent_hash is null
    ) as orphans
    from (
      select chain_id, operation, batch_number, blocks_count, is_chain, pending, sights, bottom,
             first_height
      from below
      union
      select chain_id, operation, batch_number, blocks_count, is_chain, pending, sights, bottom,
             first_height
      from held_up
    ) as doubtful
    where blocks_count > 0
  ) as told
)
select feeds.chain_id, feeds.operation, '{}'::int8multirange as numbers,
       'no batch was found yet' as finding
from etl.feeds
where operation = 'optimism-batch-blocks'
  and (
    isempty(asked)
    or exists (
      -- What was asked for without an end is known to exist up to the newest batch that was found.
      select from unnest(asked) as range where upper_inf(range) and (frontier >= lower(range)) is not true
    )
  )
union all
select chain_id, operation, int8multirange(range) as numbers,
       'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': not read' as finding
from unread, unnest(missing) as range
union all
select chain_id, operation, int8multirange(range),
       'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': read as empty, which nothing proves'
from (
  select chain_id, operation, range_agg(int8range(batch_number, batch_number + 1)) as empties
  from unproved
  -- Above the highest batch of the range nothing would ever tell.
  where blocks_count = 0 and (batch_number < settled_to or above is null or not above <@ numbers)
  group by chain_id, operation
) as suspect, unnest(empties) as range
union all
select chain_id, operation, numbers, 'batch ' || batch_number || ': ' || cause
from causes
union all
select chain_id, operation,
       int8multirange(
         int8range(lower_batch, lower_batch + 1), int8range(upper_batch, upper_batch + 1)
       ),
       'border of batches ' || lower_batch || ' and ' || upper_batch
         || ': heights or hashes do not meet'
from borders
union all
select chain_id, operation,
       int8multirange(int8range(batch_number, batch_number + 1))
         + case when is_contested_below then int8multirange(int8range(doubtful.below, doubtful.below + 1))
                else '{}' end
         + case when is_contested_above then int8multirange(int8range(above, above + 1)) else '{}' end,
       'batch ' || batch_number || ': not settled'
from below as doubtful
where blocks_count > 0
  and not exists (
    select from causes
    where causes.chain_id = doubtful.chain_id and causes.batch_number = doubtful.batch_number
  )
  and not exists (select from unread where unread.chain_id = doubtful.chain_id)
  and not exists (
    select from borders
    where borders.chain_id = doubtful.chain_id
      and doubtful.batch_number in (lower_batch, upper_batch)
  )
union all
select chain_id, operation, int8multirange(int8range(lowest, highest + 1)),
       'batches ' || lowest || ' to ' || highest || ': '
         || case when settled_to is null then 'none of them is settled'
                 else batches || ' above the highest settled one' end
from overdue;
--> statement-breakpoint
create view etl.batch_heads as
with asked as materialized (
  select * from etl.asked_batches
)
select asked.chain_id, asked.operation, batch_number,
       case
         when blocks_count > 0 and not is_chain then 'the rest of their blocks'
         when pending > 0 then 'an update'
         when wants = 'bottom' then 'another look at their lowest blocks'
         else 'the next batch'
       end as waits_for
from asked
join etl.unproved_batches as standing
  on standing.chain_id = asked.chain_id
  and batch_number >= coalesce(settled_to, lower(asked.numbers))
  and batch_number < upper(asked.numbers);
--> statement-breakpoint
create view etl.batch_notes as
select asked.chain_id, asked.operation,
       'batch ' || batch_number || ': proved but for its lower border: no batch below it was read'
         || case when batch_number > lower(numbers)
                 then ', and ' || batch_number - lower(numbers)
                   || ' numbers below it are empty by the service''s word alone'
                 else '' end as note
from etl.asked_batches as asked, lateral (
  select batch_number, first_height, state
  from explorer.optimism_batches as batch
  where batch.chain_id = asked.chain_id
    and batch_number >= lower(numbers)
    and batch_number < upper(numbers)
    and blocks_count > 0
  order by batch_number
  limit 1
) as lowest
where state = 'settled'
  -- Nothing is below block 0, and no cursor leads to it.
  and first_height > 1
  and not exists (
    select from explorer.optimism_batches as below
    where below.chain_id = asked.chain_id
      and below.batch_number < lowest.batch_number
      and below.blocks_count > 0
      and etl.batches_meet(asked.chain_id, below.last_height, lowest.first_height)
  );
--> statement-breakpoint
COMMENT ON TABLE etl."batch_sights" IS 'Where the lists of Optimism batches were last seen to begin and to end: a batch is settled only where its stored blocks begin and end there too.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."chain_id" IS 'Number of the chain.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."batch_number" IS 'Number of the batch.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."top" IS 'Highest block that the newest walk from the list''s beginning was served. Null: it was served none, or was not conclusive.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."bottom" IS 'Lowest block that the newest walk to the list''s end was served. Null: it was served none, or was not conclusive.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."parent_hash" IS 'Parent hash of that block, as it was stored then. Null: not told.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."sights" IS 'How many walks in a row have seen the list end there, on the same parent. 0: the newest walk had a page out of order or an item in quarantine.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."walk_id" IS 'The newest walk that said so.';
--> statement-breakpoint
COMMENT ON COLUMN etl.batch_sights."tick_id" IS 'The tick of the newest walk to the list''s end: a batch is settled only in the tick that has seen its end.';
--> statement-breakpoint
COMMENT ON TABLE etl."askings" IS 'What was asked for of each feed of Optimism batches, from when on: each change of etl.feeds.asked, for replays.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."id" IS 'Numbers changes in their order.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."chain_id" IS 'Number of the chain.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."operation" IS 'Name of the operation.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."asked" IS 'The numbers asked for since.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."last_tick" IS 'The newest tick at that time: all ticks after it came later.';
--> statement-breakpoint
COMMENT ON COLUMN etl.askings."asked_at" IS 'When it was asked for, by the database''s clock.';
--> statement-breakpoint
COMMENT ON FUNCTION etl.note_asking IS 'Keeps each change of what is asked for, so that a replay concludes from the same.';
--> statement-breakpoint
COMMENT ON VIEW etl.unproved_batches IS 'Batches that are read and not proved, how they stand to their neighbours, and what a walk is to read of them: the whole, the top down to what is known, or the bottom page.';
--> statement-breakpoint
COMMENT ON VIEW etl.batch_findings IS 'All that keeps feeds of Optimism batches from being complete, with the numbers to read for it.';
--> statement-breakpoint
COMMENT ON VIEW etl.batch_heads IS 'Batches above the highest settled one of their range, which are read and not proved yet, and what they wait for.';
--> statement-breakpoint
COMMENT ON VIEW etl.batch_notes IS 'What qualifies the proof of batches: the lowest of a range has no neighbour below that would prove where it begins.';
--> statement-breakpoint
COMMENT ON COLUMN etl.feeds."asked" IS 'Batch numbers that are asked for now: by the configuration, by flags since it was read last, and those that were asked for earlier and are proved. Without an upper end where all to come are. Empty for other feeds.';
