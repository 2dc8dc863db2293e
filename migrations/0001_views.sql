create function etl.newest_item(
  of_chain bigint, of_operation text
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 as $$
#variable_conflict use_column
begin
  if of_operation = 'user-operations' then
    return query
    select max(block_number), coalesce(
      max(timestamp) filter (where timestamp <= updated_at + interval '1 day'),
      percentile_disc(0.5) within group (order by timestamp)
    )
    from (
      select block_number, timestamp, updated_at from explorer.user_operations
      where chain_id = of_chain and block_number is not null
      order by block_number desc
      limit 9
    ) as item
    having count(*) > 0;
  elsif of_operation = 'optimism-batches' then
    return query
    select max(batch_number), coalesce(
      max(l1_timestamp) filter (where l1_timestamp <= updated_at + interval '1 day'),
      percentile_disc(0.5) within group (order by l1_timestamp)
    )
    from (
      select batch_number, l1_timestamp, updated_at from explorer.listed_batches
      where chain_id = of_chain and batch_number is not null
      order by batch_number desc
      limit 9
    ) as item
    having count(*) > 0;
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.newest_item is 'The highest stored position of a list that is newest first, and the newest time of the nine items there. A time of more than a day after its row was written is wrong and does not count, unless all are so. As a function, like the others: a table that is spread over servers cannot be joined laterally, and a union of the lists would be read from end to end. It names tables of schema explorer only, which analysts may read.';
--> statement-breakpoint
create function etl.item_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 as $$
#variable_conflict use_column
begin
  if of_operation = 'user-operations' then
    return query
    select block_number, timestamp from explorer.user_operations
    where chain_id = of_chain and block_number <= at_most and timestamp < before
    order by block_number desc
    limit 1;
  elsif of_operation = 'optimism-batches' then
    return query
    select batch_number, l1_timestamp from explorer.listed_batches
    where chain_id = of_chain and batch_number <= at_most and l1_timestamp < before
    order by batch_number desc
    limit 1;
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.item_below is 'The highest stored item of a list at or below a height that is older than a time; infinity is any that tells its own.';
--> statement-breakpoint
create function etl.items_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz, most int
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable as $$
#variable_conflict use_column
begin
  if of_operation = 'user-operations' then
    return query
    select block_number, timestamp from explorer.user_operations
    where chain_id = of_chain and block_number <= at_most and timestamp < before
    order by block_number desc
    limit most;
  elsif of_operation = 'optimism-batches' then
    return query
    select batch_number, l1_timestamp from explorer.listed_batches
    where chain_id = of_chain and batch_number <= at_most and l1_timestamp < before
    order by batch_number desc
    limit most;
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.items_below is 'The highest stored items of a list at or below a height that are older than a time; infinity: any that report their own.';
--> statement-breakpoint
create function etl.is_time_confirmed(
  of_height bigint, of_time timestamptz, heights bigint[], times timestamptz[]
) returns boolean
language sql immutable
begin atomic
  with item as (
    select height, extract(epoch from "time") as at, place
    from unnest(heights, times) with ordinality as item(height, "time", place)
  ), pace as (
    -- The median over items a quarter of them apart: if one part of two has wrong times, most of
    -- these pairs do not cross from one to the other.
    select coalesce(
             percentile_disc(0.5) within group (order by greatest(0, (a.at - b.at) / (a.height - b.height))),
             1e9
           ) as block_s
    from item as a
    join item as b
      on b.place = a.place + greatest(1, cardinality(heights) / 4) and b.height < a.height
  ), vote as (
    select place, extract(epoch from of_time) - at
             between -10 and 10 + 3 * block_s * (of_height - height) as agrees
    from item, pace
  )
  select coalesce(
    2 * count(*) filter (where agrees) > count(*)
      and 2 * count(*) filter (where agrees and place <= 9) > count(*) filter (where place <= 9),
    false
  )
  from vote;
end;
--> statement-breakpoint
comment on function etl.is_time_confirmed is 'Whether the time of an item agrees with those of most of the items from it downward, and of the nearest nine: it lies above each of theirs by three times what the blocks between usually take, at most, and 10 s.';
--> statement-breakpoint
create function etl.confirmed_below(
  of_chain bigint, of_operation text, at_most bigint, before timestamptz
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 as $$
#variable_conflict use_column
declare
  item record;
  highest record;
  place bigint := at_most;
begin
  for tries in 1..500 loop
    select into item * from etl.items_below(of_chain, of_operation, place, before, 1);
    exit when not found;
    if tries = 1 then highest := item; end if;
    if (
      select etl.is_time_confirmed(
        item.height, item.timestamp, array_agg(near.height), array_agg(near.timestamp)
      )
      -- More than two pages: one page of wrong times is outvoted.
      from etl.items_below(of_chain, of_operation, item.height, 'infinity', 128) as near
    ) then
      return query select item.height, item.timestamp;
      return;
    end if;
    place := item.height - 1;
  end loop;
  -- Ten pages of times that confirm none: no item is better than the highest.
  if highest is not null then
    return query select highest.height, highest.timestamp;
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.confirmed_below is 'The highest stored item of a list at or below a height that is older than a time, and whose time the items below it confirm: no wrong time of one item or of one page decides.';
--> statement-breakpoint
create function etl.since_stop(
  of_chain bigint, of_operation text, at_least bigint, since timestamptz
) returns bigint
language plpgsql stable as $$
#variable_conflict use_column
begin
  -- The nearest five: one or two that report a wrong time neither make a stop nor take it away.
  if of_operation = 'user-operations' then
    return (
      select block_number
      from (
        select block_number, timestamp from explorer.user_operations
        where chain_id = of_chain and block_number >= at_least and timestamp is not null
        order by block_number, hash
        limit 5
      ) as item
      where timestamp < since
      order by block_number
      offset 1 limit 1
    );
  elsif of_operation = 'optimism-batches' then
    return (
      select batch_number
      from (
        select batch_number, l1_timestamp from explorer.listed_batches
        where chain_id = of_chain and batch_number >= at_least and l1_timestamp is not null
        order by batch_number
        limit 5
      ) as item
      where l1_timestamp < since
      order by batch_number
      offset 1 limit 1
    );
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.since_stop is 'The height at which a walk that ended at since, and reached a height, went beyond it: two of the five lowest stored items from there upward are older. Null: what is stored now does not say so.';
--> statement-breakpoint
create function etl.item_above(
  of_chain bigint, of_operation text, at_least bigint
) returns table (height bigint, "timestamp" timestamptz)
language plpgsql stable rows 1 as $$
#variable_conflict use_column
begin
  if of_operation = 'user-operations' then
    return query
    select block_number, timestamp from explorer.user_operations
    where chain_id = of_chain and block_number >= at_least and timestamp is not null
    order by block_number, hash
    limit 1;
  elsif of_operation = 'optimism-batches' then
    return query
    select batch_number, l1_timestamp from explorer.listed_batches
    where chain_id = of_chain and batch_number >= at_least and l1_timestamp is not null
    order by batch_number
    limit 1;
  end if;
end
$$;
--> statement-breakpoint
comment on function etl.item_above is 'The lowest stored item of a list at or above a height that tells its time.';
--> statement-breakpoint
create view explorer.late_arrivals as
select late.chain_id, late.operation,
       case unit when 'blocks' then key end as hash,
       case unit when 'blocks' then height end as block_number,
       key, timestamp, seen_at,
       case when timestamp is not null then greatest(seen_at - timestamp, interval '0') end as lateness,
       page_id
from etl.late_arrivals as late
join etl.feeds using (feed);
--> statement-breakpoint
comment on view explorer.late_arrivals is 'Items that appeared where their list had been proved complete without them.';
comment on column explorer.late_arrivals.chain_id is 'Number of the chain.';
comment on column explorer.late_arrivals.operation is 'Name of the operation whose list it is.';
comment on column explorer.late_arrivals.hash is 'Hash of the operation. Null: the list is one of batches.';
comment on column explorer.late_arrivals.block_number is 'Block in which it appeared. Null: the list is one of batches.';
comment on column explorer.late_arrivals.key is 'Key of the item: the hash of an operation, the number of a batch.';
comment on column explorer.late_arrivals.timestamp is 'Its own time, UTC. Null: not told.';
comment on column explorer.late_arrivals.seen_at is 'When the walk that first met it began.';
comment on column explorer.late_arrivals.lateness is 'Between its own time and its first observation, so at least as long as it was really late: an overlap of this length would have caught it.';
comment on column explorer.late_arrivals.page_id is 'etl.pages.id of the page that brought it.';
--> statement-breakpoint
create view explorer.optimism_batches as
select chain_id, batch_number, state, blocks_count, first_height, last_height, is_contiguous,
       is_linked, is_proved, walked_at,
       listed.l1_timestamp, listed.transactions_count, listed.l2_start_block_number,
       listed.l2_end_block_number, listed.batch_data_container, listed.removed_at, listed.extra,
       least(batch.first_seen_at, listed.first_seen_at) as first_seen_at,
       greatest(batch.updated_at, listed.updated_at) as updated_at,
       batch.page_id, listed.page_id as listed_page_id
from explorer.read_batches as batch
left join explorer.listed_batches as listed using (chain_id, batch_number)
union all
select chain_id, batch_number, null, null, null, null, null, null, null, null,
       l1_timestamp, transactions_count, l2_start_block_number,
       l2_end_block_number, batch_data_container, removed_at, extra,
       first_seen_at, updated_at, null, page_id
from explorer.listed_batches as listed
where not exists (
  select from explorer.read_batches as batch
  where batch.chain_id = listed.chain_id and batch.batch_number = listed.batch_number
);
--> statement-breakpoint
comment on view explorer.optimism_batches is 'One row for each Optimism batch that is known: what its blocks prove together (state to walked_at, from optimism-batch-blocks), and what the list of batches tells of it (l1_timestamp to extra, from optimism-batches).';
comment on column explorer.optimism_batches.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.optimism_batches.batch_number is 'Number of the batch as the explorer counts, from 1, with holes: the number in the request''s path.';
comment on column explorer.optimism_batches.state is 'settled: the chain proves the batch whole. open: it was read, and may still change. empty: its list held no block. Null: its blocks were not read. In full: explorer.read_batches.state.';
comment on column explorer.optimism_batches.blocks_count is 'Number of blocks that carry this batch''s number. Null: its blocks were not read.';
comment on column explorer.optimism_batches.first_height is 'Lowest of their heights. Null: no blocks, or they were not read.';
comment on column explorer.optimism_batches.last_height is 'Highest of their heights. Null: no blocks, or they were not read.';
comment on column explorer.optimism_batches.is_contiguous is 'Whether no height between first_height and last_height is missing. Null: no blocks, or they were not read.';
comment on column explorer.optimism_batches.is_linked is 'Whether each block''s parent_hash is the hash of the block below it in the batch. Null: no blocks, or they were not read.';
comment on column explorer.optimism_batches.is_proved is 'Whether the chain proves what the row says: the batch is settled, or it is empty and the nearest batches with blocks on both sides meet in height and hash. What is proved is not read again. Null: its blocks were not read.';
comment on column explorer.optimism_batches.walked_at is 'When the walk ended that last changed this row or first told of it, by the database''s clock. Null: its blocks were not read.';
comment on column explorer.optimism_batches.l1_timestamp is 'When the batch was posted to L1, UTC; API field l1_timestamp. Null: not told.';
comment on column explorer.optimism_batches.transactions_count is 'Transactions of the batch, of the blocks that the explorer has indexed by now; API field transactions_count, in older versions transaction_count or tx_count. Null: not told.';
comment on column explorer.optimism_batches.l2_start_block_number is 'First L2 block of the batch, as it was posted to L1; API field l2_start_block_number, in older versions l2_block_start. first_height is what the explorer serves. Null: not told.';
comment on column explorer.optimism_batches.l2_end_block_number is 'Last L2 block of the batch, as it was posted to L1; API field l2_end_block_number, in older versions l2_block_end. Null: not told.';
comment on column explorer.optimism_batches.batch_data_container is 'Where the batch''s data is: in_blob4844, in_celestia, in_eigenda, in_alt_da, in_calldata, or a new value. Null: not told.';
comment on column explorer.optimism_batches.removed_at is 'When a page showed that the batch has left the list. Null: it is listed.';
comment on column explorer.optimism_batches.extra is 'Fields of the item that have no column, and values of another type or format, as JSON. Null: none.';
comment on column explorer.optimism_batches.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.optimism_batches.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.optimism_batches.page_id is 'etl.pages.id of the page that last changed what its blocks prove. Null: they were not read.';
comment on column explorer.optimism_batches.listed_page_id is 'etl.pages.id of the page that last changed what the list tells. Null: it was not listed.';
--> statement-breakpoint
create view explorer.broken_borders as
with numbered as (
  select chain_id, batch_number, blocks_count, first_height, last_height,
         row_number() over (partition by chain_id order by batch_number) as place
  from explorer.read_batches
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
comment on view explorer.broken_borders is 'Neighbouring Optimism batches, all numbers between them read, whose heights or hashes do not meet.';
comment on column explorer.broken_borders.chain_id is 'Number of the chain.';
comment on column explorer.broken_borders.lower_batch is 'The batch below the border.';
comment on column explorer.broken_borders.upper_batch is 'The next batch above it that has blocks.';
comment on column explorer.broken_borders.last_height is 'Highest block of the lower batch.';
comment on column explorer.broken_borders.first_height is 'Lowest block of the upper batch.';
comment on column explorer.broken_borders.last_hash is 'Hash of the lower batch''s highest block.';
comment on column explorer.broken_borders.parent_hash is 'Parent hash of the upper batch''s lowest block.';
--> statement-breakpoint
create function etl.note_reorg() returns trigger
language plpgsql as $$
begin
  insert into explorer.block_reorgs (
    chain_id, height, old_hash, new_hash, observed_at, page_id
  )
  values (new.chain_id, new.height, old.hash, new.hash, now(), new.page_id)
  on conflict do nothing;
  return null;
end
$$;
--> statement-breakpoint
comment on function etl.note_reorg is 'Records every hash that another one replaces at its height, whatever wrote the block.';
--> statement-breakpoint
alter table etl.incarnations set unlogged;
--> statement-breakpoint
create function etl.incarnation() returns uuid
language plpgsql as $$
begin
  insert into etl.incarnations default values on conflict do nothing;
  return (select id from etl.incarnations);
end
$$;
--> statement-breakpoint
comment on table etl.incarnations is 'One row, whose id is another after each crash of the server: the table is unlogged, so a crash empties it.';
comment on column etl.incarnations.is_only is 'Always true: there is one row.';
comment on column etl.incarnations.id is 'Made when a walk was first taken after the crash, or ever.';
comment on function etl.incarnation is 'The id of etl.incarnations, made where a crash has emptied it.';
--> statement-breakpoint
create view etl.asked_batches as
select chain_id, feed, numbers,
       (
         select batch_number
         from explorer.read_batches as batch
         where batch.chain_id = asked.chain_id
           and batch_number >= lower(numbers)
           and batch_number < upper(numbers)
           and state = 'settled'
         order by batch_number desc
         limit 1
       ) as settled_to
from (
  select chain_id, feed,
         case when upper_inf(range) then int8range(lower(range), frontier + 1) else range end as numbers
  from etl.feeds, unnest(asked) as range
  where not upper_inf(range) or frontier >= lower(range)
) as asked;
--> statement-breakpoint
comment on view etl.asked_batches is 'Per feed of Optimism batches, the ranges of numbers that were asked for and exist by now, and the highest settled batch of each.';
--> statement-breakpoint
create view etl.listed_without_blocks as
select chain_id, feed, range
from (
  select chain_id, feed, range_agg(int8range(batch_number, batch_number + 1)) as numbers
  from (
    -- Above the newest batch with blocks, whether they were requested or not.
    select feeds.chain_id, feed, batch_number
    from etl.feeds
    join explorer.listed_batches as listed
      on listed.chain_id = feeds.chain_id and batch_number > coalesce(frontier, -1)
    where kind = 'numbered'
      and batch_number >= (
        select lower(range) from unnest(asked) as range where upper_inf(range)
      )
      and removed_at is null
      and not exists (
        select from explorer.read_batches as batch
        where batch.chain_id = listed.chain_id
          and batch.batch_number = listed.batch_number
          and blocks_count > 0
      )
    union
    -- Below it, those that were read as empty.
    select asked.chain_id, feed, batch.batch_number
    from etl.asked_batches as asked
    join explorer.read_batches as batch
      on batch.chain_id = asked.chain_id
      and batch.batch_number >= greatest(lower(numbers), settled_to + 1)
      and batch.batch_number < upper(numbers)
    join explorer.listed_batches as listed
      on listed.chain_id = batch.chain_id and listed.batch_number = batch.batch_number
    where not is_proved and blocks_count = 0 and removed_at is null
  ) as listed
  group by chain_id, feed
) as listed, unnest(numbers) as range;
--> statement-breakpoint
comment on view etl.listed_without_blocks is 'Per feed of Optimism batches, the ranges of numbers above its highest settled batch that the list of batches has and whose blocks are missing: the service lists them before it has their blocks, or has lost those.';
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
comment on function etl.batches_meet is 'Whether the block at the upper height stands on the one at the lower: heights follow each other, and the parent hash is the hash below.';
--> statement-breakpoint
create view explorer.suggested_overlap as
select chain_id, feed,
       count(lateness) as late_arrivals,
       percentile_disc(0.5) within group (order by lateness) as median_lateness,
       percentile_disc(0.9) within group (order by lateness) as p90_lateness,
       percentile_disc(0.99) within group (order by lateness) as p99_lateness,
       percentile_disc(0.999) within group (order by lateness) as p999_lateness,
       max(lateness) as max_lateness,
       date_trunc('second', percentile_disc(0.9) within group (order by lateness))
         + interval '1 second' as suggested_overlap
from etl.feeds
left join explorer.late_arrivals using (chain_id, operation)
where kind = 'newest-first'
group by chain_id, feed;
--> statement-breakpoint
comment on view explorer.suggested_overlap is 'Per feed of a newest-first list, how late items appeared behind the head, and an overlap for the configuration. It knows only of arrivals that were seen, and each lateness includes the wait for the poll that met it.';
comment on column explorer.suggested_overlap.chain_id is 'Number of the chain.';
comment on column explorer.suggested_overlap.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.suggested_overlap.late_arrivals is 'Late arrivals that tell their own time: what the figures rest on.';
comment on column explorer.suggested_overlap.median_lateness is 'Half of them were late by at most this. Null: there are none.';
comment on column explorer.suggested_overlap.p90_lateness is '90 % of them were late by at most this.';
comment on column explorer.suggested_overlap.p99_lateness is '99 % of them were late by at most this.';
comment on column explorer.suggested_overlap.p999_lateness is '99.9 % of them were late by at most this.';
comment on column explorer.suggested_overlap.max_lateness is 'The latest of them.';
comment on column explorer.suggested_overlap.suggested_overlap is 'The overlap that would have caught nine in ten at the first poll, in whole seconds; the rest is cheaper for a resweep. Each poll costs the pages of the overlap.';
--> statement-breakpoint
create view explorer.suggested_resweeps as
select chain_id, feed, every, depth, cost,
       cost = min(cost) over (partition by chain_id, feed) as is_cheapest
from (
  select chain_id, feed, every, p999_lateness + every as depth,
         (extract(epoch from p999_lateness + every) / extract(epoch from every))::double precision
           as cost
  from explorer.suggested_overlap,
       unnest(array[
         interval '1 hour', interval '6 hours', interval '1 day', interval '7 days'
       ]) as every
  where p999_lateness is not null
) as rule;
--> statement-breakpoint
comment on view explorer.suggested_resweeps is 'Per feed of a newest-first list, resweep rules that would each have caught 99.9 % of the recorded late arrivals. The model: an item that is late by L is surely met by a rule when L + every <= depth. It knows only of arrivals that were seen: none deeper than the rules so far went.';
comment on column explorer.suggested_resweeps.chain_id is 'Number of the chain.';
comment on column explorer.suggested_resweeps.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.suggested_resweeps.every is 'Interval of the rule; also how long an arrival may wait until it is met.';
comment on column explorer.suggested_resweeps.depth is 'Depth of the rule: the lateness that 99.9 % stay within, and the interval.';
comment on column explorer.suggested_resweeps.cost is 'depth / every: pages of this rule for each page that the list itself gets.';
comment on column explorer.suggested_resweeps.is_cheapest is 'Whether no other rule of this feed costs fewer pages.';
--> statement-breakpoint
create view etl.block_findings as
with linked as (
  select chain_id, height, optimism_batch_number as batch_number, is_pending_update,
         -- Borders of batches are explorer.broken_borders.
         lag(height) over chain = height - 1
           and lag(optimism_batch_number) over chain = optimism_batch_number
           and lag(hash) over chain is distinct from parent_hash as is_broken
  from explorer.blocks
  window chain as (partition by chain_id order by height)
), counted as (
  select chain_id, batch_number, count(*) as blocks, min(height) as lowest, max(height) as highest,
         count(*) filter (where is_broken) as broken,
         count(*) filter (where is_pending_update) as pending
  from linked
  where batch_number is not null
  group by chain_id, batch_number
), found as (
  select batch.chain_id, batch.batch_number,
         case
           when coalesce(blocks, 0) <> blocks_count
             then jsonb_build_object(
               'kind', 'batch-blocks-differ', 'stored', coalesce(blocks, 0), 'read', blocks_count
             )
           when (lowest, highest) is distinct from (first_height, last_height)
             then jsonb_build_object(
               'kind', 'batch-range-differs',
               'stored_from_block', lowest, 'stored_to_block', highest,
               'read_from_block', first_height, 'read_to_block', last_height
             )
           when broken > 0
             then jsonb_build_object('kind', 'batch-proved-not-linked', 'blocks', broken)
           when pending > 0
             then jsonb_build_object('kind', 'batch-proved-awaits-update', 'blocks', pending)
           -- The list says what was posted to L1: it proves nothing, but contradicts what the blocks do.
           when blocks_count > 0
             and (first_height, last_height) <> (l2_start_block_number, l2_end_block_number)
             then jsonb_build_object(
               'kind', 'batch-list-differs', 'from_block', first_height, 'to_block', last_height,
               'listed_from_block', l2_start_block_number, 'listed_to_block', l2_end_block_number
             )
           when blocks_count = 0 and l2_end_block_number >= l2_start_block_number
             then jsonb_build_object(
               'kind', 'batch-empty-but-listed',
               'listed_from_block', l2_start_block_number, 'listed_to_block', l2_end_block_number
             )
         end as finding
  from explorer.read_batches as batch
  left join counted
    on counted.chain_id = batch.chain_id and counted.batch_number = batch.batch_number
  left join explorer.listed_batches as listed
    on listed.chain_id = batch.chain_id
    and listed.batch_number = batch.batch_number
    and listed.removed_at is null
  where is_proved
)
select found.chain_id, feeds.feed,
       int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
       finding || jsonb_build_object('batch', batch_number) as finding
from found
join etl.feeds on feeds.chain_id = found.chain_id and feeds.kind = 'numbered'
where finding is not null;
--> statement-breakpoint
comment on view etl.block_findings is 'Proved batches whose blocks, counted and linked again, are not what was read, or not what the list of batches says.';
--> statement-breakpoint
create view etl.unproved_batches as
select *,
       not meets_below and (below is null or below < floor) as is_lowest,
       case
         when blocks_count = 0 then 'whole'
         when not is_chain or times_seen = 0 or bottom is distinct from first_height then 'whole'
         when below >= floor and not meets_below then 'whole'
         when pending > 0 or not meets_above or top is distinct from last_height then 'top'
         when is_contested_above then 'top'
         else 'bottom'
       end as wants
from (
  select batch.chain_id, batch.batch_number, blocks_count, batch.first_height, batch.last_height,
         (is_contiguous and is_linked) is true as is_chain,
         coalesce(observation.times_seen, 0) as times_seen, observation.top, observation.bottom,
         asked.floor, below.batch_number as below, above.batch_number as above,
         etl.batches_meet(batch.chain_id, below.last_height, batch.first_height) is true as meets_below,
         etl.batches_meet(batch.chain_id, batch.last_height, above.first_height) is true as meets_above,
         coalesce(observation_below.times_seen > 0 and observation_below.top is distinct from below.last_height, false)
           as is_contested_below,
         coalesce(observation_above.times_seen > 0 and observation_above.bottom is distinct from above.first_height, false)
           as is_contested_above,
         (
           select count(*) from explorer.blocks
           where blocks.chain_id = batch.chain_id
             and optimism_batch_number = batch.batch_number
             and is_pending_update
         ) as pending
  from explorer.read_batches as batch
  left join etl.batch_observations as observation
    on observation.chain_id = batch.chain_id and observation.batch_number = batch.batch_number
  left join lateral (
    select lower(range) as floor
    from etl.feeds, unnest(asked) as range
    where feeds.chain_id = batch.chain_id
      and feeds.kind = 'numbered'
      and batch.batch_number <@ range
  ) as asked on true
  left join lateral (
    select other.batch_number, other.last_height
    from explorer.read_batches as other
    where other.chain_id = batch.chain_id
      and other.blocks_count > 0
      and other.batch_number < batch.batch_number
    order by other.batch_number desc
    limit 1
  ) as below on true
  left join lateral (
    select other.batch_number, other.first_height
    from explorer.read_batches as other
    where other.chain_id = batch.chain_id
      and other.blocks_count > 0
      and other.batch_number > batch.batch_number
    order by other.batch_number
    limit 1
  ) as above on true
  left join etl.batch_observations as observation_below
    on observation_below.chain_id = batch.chain_id and observation_below.batch_number = below.batch_number
  left join etl.batch_observations as observation_above
    on observation_above.chain_id = batch.chain_id and observation_above.batch_number = above.batch_number
  where not is_proved
) as standing;
--> statement-breakpoint
comment on view etl.unproved_batches is 'Batches that are read and not proved, how they stand to their neighbours, and what a walk is to read of them: the whole, the top down to what is known, or the bottom page.';
--> statement-breakpoint
create view etl.batch_state_findings as
with asked as materialized (
  -- Once, not for each row that it is held against.
  select * from etl.asked_batches
), listed as materialized (
  select * from etl.listed_without_blocks
), unread as (
  select chain_id, feed, missing
  from (
    select asked.chain_id, asked.feed,
           int8multirange(asked.numbers) - coalesce(
             range_agg(int8range(batch_number, batch_number + 1)) filter (where batch_number is not null),
             '{}'
           ) as missing
    from asked
    left join explorer.read_batches as batch
      on batch.chain_id = asked.chain_id
      and batch_number >= lower(asked.numbers)
      and batch_number < upper(asked.numbers)
    group by asked.chain_id, asked.feed, asked.numbers
  ) as difference
  where not isempty(missing)
), unproved as materialized (
  select asked.feed, asked.numbers, asked.settled_to, standing.*
  from asked
  join etl.unproved_batches as standing
    on standing.chain_id = asked.chain_id
    and batch_number >= lower(asked.numbers)
    and batch_number < upper(asked.numbers)
), below as (
  select * from unproved where batch_number < settled_to
), overdue as (
  -- A head is few: what is above waits for what is to come. So many wait for something else.
  select chain_id, feed, numbers, settled_to,
         count(*) as batches, min(batch_number) as lowest, max(batch_number) as highest
  from unproved
  where blocks_count > 0 and (settled_to is null or batch_number > settled_to)
  group by chain_id, feed, numbers, settled_to
  having count(*) > 3 or (settled_to is null and count(*) = 3)
), held_up as (
  -- Those that the others wait for.
  select *
  from (
    select unproved.*,
           row_number() over (partition by feed, numbers order by batch_number) as place
    from unproved
    join overdue using (feed, numbers)
    where blocks_count > 0 and batch_number >= lowest
  ) as head
  where place <= 3
), borders as (
  select asked.chain_id, feed, lower_batch, upper_batch
  from explorer.broken_borders as border
  join asked on asked.chain_id = border.chain_id and lower_batch <@ asked.numbers
  where upper_batch <= settled_to
    or exists (
      select from held_up
      where held_up.chain_id = border.chain_id and held_up.batch_number = upper_batch
    )
), causes as (
  select chain_id, feed, batch_number,
         int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
         unnest(array_remove(array[
           case when orphans > 1 or (orphans = 1 and is_chain)
                then jsonb_build_object('kind', 'batch-without-parents', 'blocks', orphans) end,
           case when not is_chain and orphans <= 1
                then jsonb_build_object('kind', 'batch-not-linked') end,
           case when pending > 0
                then jsonb_build_object('kind', 'batch-awaits-update', 'blocks', pending) end,
           case when times_seen > 0 and is_chain and bottom is distinct from first_height
                then jsonb_build_object('kind', 'batch-ends-early') end,
           case when times_seen = 0
                then jsonb_build_object('kind', 'batch-never-read-whole') end
         ], null)) as cause
  from (
    select *, (
      select count(*) from explorer.blocks
      where blocks.chain_id = doubtful.chain_id
        and optimism_batch_number = batch_number
        and parent_hash is null
    ) as orphans
    from (
      select chain_id, feed, batch_number, blocks_count, is_chain, pending, times_seen, bottom,
             first_height
      from below
      union
      select chain_id, feed, batch_number, blocks_count, is_chain, pending, times_seen, bottom,
             first_height
      from held_up
    ) as doubtful
    where blocks_count > 0
  ) as told
)
select feeds.chain_id, feeds.feed, '{}'::int8multirange as numbers,
       jsonb_build_object('kind', 'no-batch-found') as finding
from etl.feeds
where kind = 'numbered'
  and (
    isempty(asked)
    or exists (
      -- What was asked for without an end is known to exist up to the newest batch that was found.
      select from unnest(asked) as range where upper_inf(range) and (frontier >= lower(range)) is not true
    )
  )
union all
-- Those above the newest batch are for polls, which find it so.
select listed.chain_id, feed,
       case when lower(range) <= frontier then int8multirange(range) else '{}' end,
       jsonb_build_object(
         'kind', 'batches-without-blocks', 'from_batch', lower(range), 'to_batch', upper(range) - 1
       )
from listed
join etl.feeds using (feed)
union all
select chain_id, feed, int8multirange(range) as numbers,
       jsonb_build_object(
         'kind', 'batches-not-read', 'from_batch', lower(range), 'to_batch', upper(range) - 1
       ) as finding
from unread, unnest(missing) as range
union all
select chain_id, feed, int8multirange(range),
       jsonb_build_object(
         'kind', 'batches-empty-unproved', 'from_batch', lower(range), 'to_batch', upper(range) - 1
       )
from (
  select chain_id, feed, range_agg(int8range(batch_number, batch_number + 1)) as empties
  from unproved
  -- Above the highest batch of the range nothing would ever tell.
  where blocks_count = 0 and (batch_number < settled_to or above is null or not above <@ numbers)
    and not exists (
      select from listed where listed.feed = unproved.feed and batch_number <@ range
    )
  group by chain_id, feed
) as suspect, unnest(empties) as range
union all
select chain_id, feed, numbers, cause || jsonb_build_object('batch', batch_number)
from causes
union all
select chain_id, feed,
       int8multirange(
         int8range(lower_batch, lower_batch + 1), int8range(upper_batch, upper_batch + 1)
       ),
       jsonb_build_object(
         'kind', 'border-not-linked', 'lower_batch', lower_batch, 'upper_batch', upper_batch
       )
from borders
union all
select chain_id, feed,
       int8multirange(int8range(batch_number, batch_number + 1))
         + case when is_contested_below then int8multirange(int8range(doubtful.below, doubtful.below + 1))
                else '{}' end
         + case when is_contested_above then int8multirange(int8range(above, above + 1)) else '{}' end,
       jsonb_build_object('kind', 'batch-not-settled', 'batch', batch_number)
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
select chain_id, feed, int8multirange(int8range(lowest, highest + 1)),
       jsonb_build_object(
         'kind', 'batches-not-settled', 'from_batch', lowest, 'to_batch', highest,
         'batches', batches, 'settled_to', settled_to
       )
from overdue;
--> statement-breakpoint
comment on view etl.batch_state_findings is 'What keeps feeds of batches from being complete by what their walks concluded: what is not read or not proved.';
--> statement-breakpoint
create view etl.batch_heads as
with asked as materialized (
  select * from etl.asked_batches
)
select asked.feed, batch_number,
       case
         when blocks_count > 0 and not is_chain then 'blocks'
         when pending > 0 then 'update'
         when wants = 'bottom' then 'lowest-blocks'
         else 'next-batch'
       end as waits_for
from asked
join etl.unproved_batches as standing
  on standing.chain_id = asked.chain_id
  and batch_number >= coalesce(settled_to, lower(asked.numbers))
  and batch_number < upper(asked.numbers)
where not exists (
  select from etl.listed_without_blocks as listed
  where listed.feed = asked.feed and batch_number <@ range
);
--> statement-breakpoint
comment on view etl.batch_heads is 'Batches above the highest settled one of their range, which are read and not proved yet, and what they wait for.';
--> statement-breakpoint
create view etl.batch_notes as
select asked.feed,
       jsonb_build_object(
         'kind', 'lower-border-unproved', 'batch', batch_number,
         'empty_below', batch_number - lower(numbers)
       ) as note
from etl.asked_batches as asked, lateral (
  select batch_number, first_height, state
  from explorer.read_batches as batch
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
    select from explorer.read_batches as below
    where below.chain_id = asked.chain_id
      and below.batch_number < lowest.batch_number
      and below.blocks_count > 0
      and etl.batches_meet(asked.chain_id, below.last_height, lowest.first_height)
  );
--> statement-breakpoint
comment on view etl.batch_notes is 'What qualifies the proof of batches: the lowest of a range has no neighbour below that would prove where it begins.';
--> statement-breakpoint
create view etl.batch_findings as
select chain_id, feed, numbers, finding from etl.batch_state_findings
union all
select chain_id, feed, numbers, finding from etl.block_findings;
--> statement-breakpoint
comment on view etl.batch_findings is 'Each thing that keeps a feed of batches from being complete: what is not read or proved, and proved batches whose blocks are not what was read.';
--> statement-breakpoint
create function etl.count_walk() returns trigger
language plpgsql as $$
begin
  with told as (
    select new.feed as feed, new.lane as lane, 1 as sign, new.pages as pages, new.inserted as inserted,
           new.archived_bytes as archived_bytes, new.credits as credits, new.items as items,
           new.top - new.bottom as blocks, new.cuts as cuts, new.proved as proved,
           new.updated_at as updated_at
    where new.state <> 'running'
    union all
    select old.feed, old.lane, -1, old.pages, old.inserted, old.archived_bytes, old.credits, old.items,
           old.top - old.bottom, old.cuts, null, null
    where old.state <> 'running'
  )
  insert into etl.lane_totals as t (
    feed, lane, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks, proved,
    last_page_at
  )
  select feed, lane, sum(sign * pages), sum(sign * inserted), sum(sign * archived_bytes),
         sum(sign * credits),
         coalesce(sum(sign * items) filter (where cuts = 0 and blocks > 0), 0),
         coalesce(sum(sign * blocks) filter (where cuts = 0 and blocks > 0), 0),
         coalesce(range_agg(proved), '{}'),
         max(updated_at) filter (where pages > 0)
  from told
  group by feed, lane
  on conflict (feed, lane) do update
  set pages = t.pages + excluded.pages,
      inserted = t.inserted + excluded.inserted,
      archived_bytes = t.archived_bytes + excluded.archived_bytes,
      credits = t.credits + excluded.credits,
      spanned_items = t.spanned_items + excluded.spanned_items,
      spanned_blocks = t.spanned_blocks + excluded.spanned_blocks,
      proved = t.proved + excluded.proved,
      last_page_at = greatest(t.last_page_at, excluded.last_page_at);
  -- Who proves less than before takes its proof with it, unless another walk proves the same.
  if old.state <> 'running' and (new.state <> 'running' and new.proved @> old.proved) is not true then
    update etl.lane_totals
    set proved = etl.proof_of_walks(old.feed, old.lane)
    where feed = old.feed and lane = old.lane;
  end if;
  return null;
end
$$;
--> statement-breakpoint
comment on function etl.count_walk is 'Keeps etl.lane_totals: adds a walk that ends, and takes away what is changed.';
--> statement-breakpoint
create function etl.uncount_walks() returns trigger
language plpgsql as $$
begin
  update etl.lane_totals as kept
  set pages = kept.pages - ended.pages,
      inserted = kept.inserted - ended.inserted,
      archived_bytes = kept.archived_bytes - ended.archived_bytes,
      credits = kept.credits - ended.credits,
      spanned_items = kept.spanned_items - ended.spanned_items,
      spanned_blocks = kept.spanned_blocks - ended.spanned_blocks
  from (
    select feed, lane, sum(pages) as pages, sum(inserted) as inserted,
           sum(archived_bytes) as archived_bytes, sum(credits) as credits,
           coalesce(sum(items) filter (where cuts = 0 and top > bottom), 0) as spanned_items,
           coalesce(sum(top - bottom) filter (where cuts = 0 and top > bottom), 0) as spanned_blocks
    from gone
    where state <> 'running'
    group by feed, lane
  ) as ended
  where (kept.feed, kept.lane) = (ended.feed, ended.lane);
  -- The rows are locked by now: whoever ended a walk before is seen, whoever does so after adds to this.
  update etl.lane_totals as kept
  set proved = etl.proof_of_walks(kept.feed, kept.lane)
  where exists (
    select from gone
    where (gone.feed, gone.lane) = (kept.feed, kept.lane)
      and gone.state <> 'running' and gone.proved <> '{}'
  );
  return null;
end
$$;
--> statement-breakpoint
comment on function etl.uncount_walks is 'Keeps etl.lane_totals: takes away walks that are deleted. What they proved goes with them, unless others prove it.';
--> statement-breakpoint
create function etl.count_thinning() returns trigger
language plpgsql as $$
begin
  update etl.lane_totals
  set pages = pages + coalesce(new.pages, 0) - coalesce(old.pages, 0),
      credits = credits + coalesce(new.credits, 0) - coalesce(old.credits, 0),
      spanned_items = spanned_items + coalesce(new.spanned_items, 0) - coalesce(old.spanned_items, 0),
      spanned_blocks = spanned_blocks + coalesce(new.spanned_blocks, 0) - coalesce(old.spanned_blocks, 0)
  where feed = coalesce(new.feed, old.feed) and lane = coalesce(new.lane, old.lane);
  return null;
end
$$;
--> statement-breakpoint
comment on function etl.count_thinning is 'Keeps etl.lane_totals: goes on counting walks that were thinned out of the ledger.';
--> statement-breakpoint
create view etl.walk_totals as
select feed, lane, sum(pages)::bigint as pages, sum(inserted)::bigint as inserted,
       sum(archived_bytes)::bigint as archived_bytes, sum(credits)::bigint as credits,
       sum(spanned_items)::bigint as spanned_items, sum(spanned_blocks)::bigint as spanned_blocks,
       coalesce(range_agg(proved), '{}') as proved,
       max(last_page_at) as last_page_at
from (
  select feed, lane, pages, inserted, archived_bytes, credits,
         case when cuts = 0 and top > bottom then items else 0 end as spanned_items,
         case when cuts = 0 and top > bottom then top - bottom else 0 end as spanned_blocks,
         proved, case when pages > 0 then updated_at end as last_page_at
  from etl.walks
  where state <> 'running'
  union all
  select feed, lane, pages, 0, 0, credits, spanned_items, spanned_blocks, '{}', null
  from etl.thinnings
) as walked
group by feed, lane;
--> statement-breakpoint
comment on view etl.walk_totals is 'What etl.lane_totals must be: the ended walks of each lane, added up one by one, and those that were thinned out, which prove nothing here.';
--> statement-breakpoint
create function etl.proof_of_walks(of_feed text, of_lane text) returns int8multirange
language sql stable
return coalesce(
  (
    select range_agg(proved) from etl.walks
    where feed = of_feed and lane = of_lane and state <> 'running'
  ),
  '{}'
);
--> statement-breakpoint
comment on function etl.proof_of_walks is 'What the ended walks of a lane prove together, from each of them: what etl.lane_totals.proved must be.';
--> statement-breakpoint
create view etl.lane_sums as
select feed, lane,
       sum(pages) as pages,
       sum(inserted) as inserted,
       sum(archived_bytes) as archived_bytes,
       sum(credits) as credits,
       sum(spanned_items) as spanned_items,
       sum(spanned_blocks) as spanned_blocks,
       range_agg(proved) as proved,
       count(checkpoint_of) as running_walks,
       max(last_page_at) as last_page_at,
       min(last_page_at) filter (where checkpoint_of is not null) as oldest_checkpoint_at
from (
  select feed, lane, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks, proved,
         last_page_at, null::bigint as checkpoint_of
  from etl.lane_totals
  union all
  select feed, lane, pages, inserted, archived_bytes, credits,
         case when cuts = 0 and top > bottom then items else 0 end,
         case when cuts = 0 and top > bottom then top - bottom else 0 end,
         proved, case when pages > 0 then updated_at end, id
  from etl.walks
  where state = 'running'
) as part
group by feed, lane;
--> statement-breakpoint
comment on view etl.lane_sums is 'What the walks of each lane come to together: those that have ended, and those under way.';
--> statement-breakpoint
create view etl.newest_runs as
select run.*, success.closed_at as success_at
from etl.feeds, unnest(array['live', 'backfill']) as own, lateral (
  -- By the whole key of runs_feed: by the id alone the planner reads all runs backward for a lane without one.
  select * from etl.runs
  where (feed, lane, id) <= (feeds.feed, own, 9223372036854775807)
  order by feed desc, lane desc, id desc
  limit 1
) as run
left join lateral (
  select feed, lane, closed_at from etl.runs
  where state = 'finished' and (feed, lane, id) <= (run.feed, run.lane, 9223372036854775807)
  order by feed desc, lane desc, id desc
  limit 1
) as success on success.feed = run.feed and success.lane = run.lane
where run.feed = feeds.feed and run.lane = own;
--> statement-breakpoint
comment on view etl.newest_runs is 'The newest run of each lane, and when the last one ended that went well.';
--> statement-breakpoint
create view etl.feed_coverage as
select feeds.feed,
       proof.covered * int8multirange(int8range(null, head.top)) as covered,
       least(proof.highest, head.top) as highest,
       proof.reached_since
from etl.feeds
left join lateral (
  select (
           select range_agg(proved) from etl.lane_sums where lane_sums.feed = feeds.feed
         ) as covered,
         (select max(top) from etl.walks where walks.feed = feeds.feed) as highest,
         (
           select stop + 1
           from (
             select bottom, (scope ->> 'since')::timestamptz as since
             from etl.walks
             where walks.feed = feeds.feed
               and state = 'finished'
               and reason = 'since'
               and bottom is not null
               and (feeds.settings ->> 'since')::timestamptz >= (scope ->> 'since')::timestamptz
             order by bottom desc
           ) as walk, etl.since_stop(feeds.chain_id, feeds.operation, bottom, since) as stop
           where stop is not null
           order by bottom desc
           limit 1
         ) as reached_since
) as proof on true
left join lateral (
  select top
  from etl.walks
  where walks.feed = feeds.feed
    and from_head
    and top is not null
  order by started_at desc, id desc
  limit 1
) as head on true
where feeds.kind = 'newest-first';
--> statement-breakpoint
comment on view etl.feed_coverage is 'Per feed of a newest-first list, the blocks that its walks prove complete, together: nothing above the newest block that the newest walk from the head met. reached_since: the lowest block that the configured since wants; null: no walk went beyond it.';
--> statement-breakpoint
create view etl.total_findings as
select distinct feed, jsonb_build_object('kind', 'totals-differ') as finding
from etl.lane_totals as kept
full join etl.walk_totals as walked using (feed, lane)
where (
  coalesce(walked.pages, 0), coalesce(walked.inserted, 0), coalesce(walked.archived_bytes, 0),
  coalesce(walked.credits, 0), coalesce(walked.spanned_items, 0),
  coalesce(walked.spanned_blocks, 0), coalesce(walked.proved, '{}')
) is distinct from (
  kept.pages, kept.inserted, kept.archived_bytes, kept.credits, kept.spanned_items,
  kept.spanned_blocks, kept.proved
);
--> statement-breakpoint
comment on view etl.total_findings is 'Feeds of which etl.lane_totals says something else than their walks, or nothing: somebody has changed one of the two by hand.';
--> statement-breakpoint
create view etl.feed_gaps as
select feed, gap
from etl.feed_coverage,
     unnest(
       int8multirange(int8range(
         least(coalesce(reached_since, 0), coalesce(highest, 0)), coalesce(highest, 0)
       )) - coalesce(covered, '{}')
     ) as gap;
--> statement-breakpoint
comment on view etl.feed_gaps is 'Per feed of a newest-first list, the wanted blocks below the covered top that no walk proves. Unwanted are those below the place at which a walk went beyond since, and no others.';
--> statement-breakpoint
create view etl.quarantined as
select feed, count(*) as items, range_agg(place) as places
from (
  select feed,
         case
           when kind = 'newest-first' and to_block is not null
             then int8range(least(coalesce(from_block, 0), to_block), to_block, '[]')
           when kind = 'numbered'
             then int8range((scope ->> 'batch')::bigint, (scope ->> 'batch')::bigint, '[]')
           -- It can stand anywhere.
           else int8range(null, null)
         end as place
  from etl.quarantine
  join etl.feeds using (feed)
  where dropped_at is null
) as item
group by feed;
--> statement-breakpoint
comment on view etl.quarantined is 'Per feed, the items that stand in quarantine, and the blocks or batches that they can stand in: what holds one is complete nowhere.';
--> statement-breakpoint
create view etl.covered_ranges as
select feed, range
from etl.feed_coverage
left join etl.quarantined using (feed),
lateral unnest(covered - coalesce(places, '{}')) as range;
--> statement-breakpoint
comment on view etl.covered_ranges is 'Ranges of blocks whose items are complete, without those in which an item stands in quarantine.';
--> statement-breakpoint
create view etl.proved_ranges as
select chain_id, operation, feed,
       lower(range) as from_block,
       upper(range) - 1 as to_block,
       walked.oldest as as_of,
       walked.newest as newest_as_of,
       unit
from etl.covered_ranges
join etl.feeds using (feed), lateral (
  select min(started_at) as oldest, max(started_at) as newest
  from etl.walks
  where walks.feed = covered_ranges.feed
    and proved && range
) as walked;
--> statement-breakpoint
comment on view etl.proved_ranges is 'Coverage of newest-first lists: explorer.coverage has that of the others too.';
--> statement-breakpoint
create trigger note_reorg
after update of hash on explorer.blocks
for each row when (old.hash <> new.hash)
execute function etl.note_reorg();
--> statement-breakpoint
create trigger count_begun_as_ended
after insert on etl.walks
for each row when (new.state <> 'running')
execute function etl.count_walk();
--> statement-breakpoint
create trigger count_ended
after update on etl.walks
for each row when (old.state <> 'running' or new.state <> 'running')
execute function etl.count_walk();
--> statement-breakpoint
create trigger count_deleted
after delete on etl.walks
referencing old table as gone
for each statement
execute function etl.uncount_walks();
--> statement-breakpoint
create trigger count_thinning
after insert or update or delete on etl.thinnings
for each row
execute function etl.count_thinning();
--> statement-breakpoint
comment on table explorer.address_implementations is 'Implementations behind a proxy, in the order served. Source: implementations[] of an address.';
comment on column explorer.address_implementations.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.address_implementations.address_hash is 'Whose it is: explorer.addresses.hash.';
comment on column explorer.address_implementations.position is 'Place in implementations[], from 0.';
comment on column explorer.address_implementations.implementation_hash is 'Address of the implementation; API field implementations[].address_hash, in older versions address. Lower-case hex with 0x, 20 bytes. Null: not told.';
comment on column explorer.address_implementations.name is 'Name of the implementation; API field implementations[].name. Null: not told.';
comment on column explorer.address_implementations.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.address_implementations.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.address_implementations.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.address_labels is 'Labels of an address, in the order served. Source: private_tags[] and public_tags[] of an address. Private ones belong to the key''s owner.';
comment on column explorer.address_labels.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.address_labels.address_hash is 'Whose it is: explorer.addresses.hash.';
comment on column explorer.address_labels.kind is 'private: from private_tags[]; public: from public_tags[].';
comment on column explorer.address_labels.position is 'Place in its list, from 0.';
comment on column explorer.address_labels.label is 'The label; API field private_tags[].label or public_tags[].label. Null: not told.';
comment on column explorer.address_labels.display_name is 'The label as shown; API field private_tags[].display_name or public_tags[].display_name. Null: not told.';
comment on column explorer.address_labels.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.address_labels.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.address_labels.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.address_metadata_tags is 'Tags of an address, in the order served. Source: metadata.tags[] of an address.';
comment on column explorer.address_metadata_tags.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.address_metadata_tags.address_hash is 'Whose it is: explorer.addresses.hash.';
comment on column explorer.address_metadata_tags.position is 'Place in metadata.tags[], from 0.';
comment on column explorer.address_metadata_tags.slug is 'Short name of the tag; API field metadata.tags[].slug. Null: not told.';
comment on column explorer.address_metadata_tags.name is 'Name to show; API field metadata.tags[].name. Null: not told.';
comment on column explorer.address_metadata_tags.tag_type is 'Kind of tag, such as name, generic or protocol; API field metadata.tags[].tagType, free text. Null: not told.';
comment on column explorer.address_metadata_tags.ordinal is 'Weight that orders tags for display; API field metadata.tags[].ordinal. Null: not told.';
comment on column explorer.address_metadata_tags.meta is 'Whatever else the tag holds; API field metadata.tags[].meta, free-form. Null: nothing.';
comment on column explorer.address_metadata_tags.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.address_metadata_tags.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.address_metadata_tags.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.address_watchlist_names is 'Names from the watch list of the key''s owner, in the order served. Source: watchlist_names[] of an address.';
comment on column explorer.address_watchlist_names.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.address_watchlist_names.address_hash is 'Whose it is: explorer.addresses.hash.';
comment on column explorer.address_watchlist_names.position is 'Place in watchlist_names[], from 0.';
comment on column explorer.address_watchlist_names.label is 'The name; API field watchlist_names[].label. Null: not told.';
comment on column explorer.address_watchlist_names.display_name is 'The name as shown; API field watchlist_names[].display_name. Null: not told.';
comment on column explorer.address_watchlist_names.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.address_watchlist_names.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.address_watchlist_names.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.addresses is 'Every address that was seen in an item, merged from all observations of it. Source: miner of a block, address and entry_point of a user operation, address of a factory.';
comment on column explorer.addresses.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.addresses.hash is 'The address, its identity; API field hash. Lower-case hex with 0x, 20 bytes.';
comment on column explorer.addresses.name is 'Name of the contract or address; API field name. Newest informed observation. Null: it has none, or none was told.';
comment on column explorer.addresses.ens_domain_name is 'ENS name; API field ens_domain_name. Newest value told. Null: never told.';
comment on column explorer.addresses.is_contract is 'Whether it is a contract; API field is_contract. Newest told by an observation that is no stub. Null: never told, as of an address that is known by stubs only.';
comment on column explorer.addresses.is_scam is 'Whether the explorer marks it as a scam; API field is_scam. True once any observation said so. Null: never told.';
comment on column explorer.addresses.is_verified is 'Whether its source is verified; API field is_verified. Newest informed observation. Null: never told, or no contract.';
comment on column explorer.addresses.proxy_type is 'Kind of proxy, such as eip1967; API field proxy_type, free text. Newest informed observation. Null: no proxy, or not told.';
comment on column explorer.addresses.reputation is 'ok, scam or another word; API field reputation, free text. A value other than ok is not replaced by ok, which is printed where nobody looked. Null: never told.';
comment on column explorer.addresses.extra is 'What no column holds: fields that the specification does not name, values of another type or format under their field''s name and what is off (name (array)), labels that name another address (foreign_tags). The newest that was not null.';
comment on column explorer.addresses.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.addresses.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.addresses.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table etl.budget is 'One row for each API key: the slots of its requests, shared by all workers on this database.';
comment on column etl.budget.key_fingerprint is 'The first 12 hex digits of the key''s SHA-256. The key itself is stored nowhere.';
comment on column etl.budget.requests_per_second is 'Rate of the key, from the configuration of the process that started last. Slots are handed out at 97 % of it.';
comment on column etl.budget.next_at is 'The next free slot, by the database''s clock.';
comment on column etl.budget.queue_at is 'When the last backfill request that was sent away is to ask again, by the database''s clock. Null: none was.';
comment on column etl.budget.service_limit is 'Requests per second that the service''s headers stated last. The lower of this and requests_per_second holds. Null: not stated since a process started last.';
comment on column etl.budget.daily_credits is 'Credits that may be spent in a day (UTC) at most, from the configuration. Null: no limit of ours.';
comment on column etl.budget.credits_day is 'The day (UTC, by the database''s clock) that credits_spent and credits_remaining are about.';
comment on column etl.budget.credits_spent is 'Credits of the slots that were handed out on credits_day, 20 each. The service may charge less for failed requests.';
comment on column etl.budget.credits_remaining is 'Credits left, as the service said last. Null: not said, or not since a process started last.';
comment on column etl.budget.paused_until is 'Until when no request of the key may leave, by the database''s clock. Null or past: no pause.';
comment on column etl.budget.pause_class is 'Class of what paused the key: throttled, out-of-credits, unauthorized or key-missing. After all but the first, one request is let through to look before the others.';
comment on column etl.budget.pause_reason is 'What the service said when the key was paused, in one line without secrets.';
comment on column etl.budget.requests is 'Slots handed out so far, failed requests and repeats included.';
comment on column etl.budget.updated_at is 'When the key was asked for a slot last, by the database''s clock. A clock that is behind it was set back.';
--> statement-breakpoint
comment on table explorer.chains is 'The chains of the configuration, one row each.';
comment on column explorer.chains.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.chains.name is 'Name from the configuration, else the usual one; chain-<id> for a chain not known by name.';
comment on column explorer.chains.native_symbol is 'Symbol of the chain''s own currency, in which it counts fees, such as ETH; from the configuration, else the usual one. Null: not known. Amounts of two chains whose symbol is not known are of two currencies.';
comment on column explorer.chains.native_decimals is 'Decimals of that currency: views divide amounts of the API by 10 to the power of it. From the configuration, else 18.';
comment on column explorer.chains.explorer_url is 'Where people look at the chain, without a slash at its end; from the configuration, else the usual one. Null: not known.';
--> statement-breakpoint
comment on table etl.feeds is 'Operations on chains that are or were configured: what a person schedules and watches.';
comment on column etl.feeds.chain_id is 'Number of the chain.';
comment on column etl.feeds.operation is 'Name of the operation, such as user-operations.';
comment on column etl.feeds.kind is 'How its list is ordered: newest-first, numbered or ranked. What is proved and what is open of it is judged by that.';
comment on column etl.feeds.unit is 'What the heights of its list count, where it is newest first: blocks or batches.';
comment on column etl.feeds.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.feeds.state is 'idle, running, degraded, waiting, unauthorized, unsupported, unordered or failed; docs/operating.md explains them.';
comment on column etl.feeds.failure is 'The class of what keeps the feed from being as it should be, as the table of failures in docs/operating.md names it. Null: nothing does, or what does is of no class.';
comment on column etl.feeds.reason is 'Why the feed is not as it should be, and what to do. Null: nothing to say.';
comment on column etl.feeds.settings is 'The operation''s settings on this chain, from the configuration of the process that registered it last, with the bounds of its target.';
comment on column etl.feeds.target is 'The bounds that a command named last (--since, --from-batch, --to-batch), as settings, where the configuration names none: how much of the list is wanted. Null: no command named any.';
comment on column etl.feeds.origin is 'Where its pages come from: scheme, host and path of its explorer, never a key. Another one is refused unless a person says that both serve the same chain. Null: nothing was asked for yet.';
comment on column etl.feeds.frontier is 'Newest batch number that is known to have blocks. Null: not found yet, or no batches.';
comment on column etl.feeds.asked is 'Batch numbers that are asked for now: by the configuration, by flags since it was read last, and those that were asked for earlier and are proved. Without an upper end where all to come are. Empty for other feeds.';
comment on column etl.feeds.last_success_at is 'When a run of the feed last finished. Null: never.';
comment on column etl.feeds.poll_again_at is 'Until when schedules do not look at a feed that the service does not serve. Null: they do.';
comment on column etl.feeds.updated_at is 'When state, reason, settings or target last changed.';
--> statement-breakpoint
comment on table etl.runs is 'Wishes to bring a lane of a feed up to date, from sync or a schedule. One at most is open for each lane.';
comment on column etl.runs.id is 'Number of the run.';
comment on column etl.runs.chain_id is 'Number of the chain.';
comment on column etl.runs.operation is 'Name of the operation, such as user-operations.';
comment on column etl.runs.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.runs.lane is 'live: newest data first, small. backfill: history, long.';
comment on column etl.runs.scope is 'What the run covers: since, max_pages, overlap_ms, from_batch, to_batch, only_unread, reread; {} is the whole list.';
comment on column etl.runs.state is 'open: being worked on. finished, failed: done. interrupted: given up on a failure, goes on when wished again. superseded: a run of another scope took its place.';
comment on column etl.runs.failure is 'The class of why it failed or was interrupted. Null: neither, or of no class.';
comment on column etl.runs.reason is 'Why it failed or was interrupted. Null: neither.';
comment on column etl.runs.next_batch is 'Of a backfill of batches: the highest one that no walk was begun for; they are walked from the newest down. Null: none was yet, or another run.';
comment on column etl.runs.frontier_before is 'Of a live run of batches: etl.feeds.frontier when it first looked; batches above are new to it. Null: it did not yet, or another run.';
comment on column etl.runs.failures_in_a_row is 'Failures in a row without a page between them; the rest after each grows with it.';
comment on column etl.runs.stopped_at is 'When a process that was told to stop let go of it: nobody has taken it up since. Null: it is worked on, waits for its turn, or its process ended without a word.';
comment on column etl.runs.taken_up_at is 'When the worker took it up that has it, or that was killed. Null: no worker has it.';
comment on column etl.runs.due_at is 'When a worker is to take it up. Null: the process that had it let go of it.';
comment on column etl.runs.opened_at is 'When it was first opened.';
comment on column etl.runs.closed_at is 'When it left the state open. Null: it is open.';
--> statement-breakpoint
comment on table etl.ranking_entries is 'What the walks of a ranking of factories have met so far; emptied when it is published.';
comment on column etl.ranking_entries.walk_id is 'etl.walks.id of the walk.';
comment on column etl.ranking_entries.address_hash is 'The factory.';
comment on column etl.ranking_entries.position is 'Place in the walk, from 0, as last met.';
comment on column etl.ranking_entries.total_accounts is 'Accounts, as last met. Null: not told.';
comment on column etl.ranking_entries.has_moved is 'Whether it shows that rows moved during the walk: met before on it, or more accounts than the one above.';
--> statement-breakpoint
comment on table etl.rankings is 'One row for each ranking of factories that was published.';
comment on column etl.rankings.walk_id is 'etl.walks.id of its last walk.';
comment on column etl.rankings.chain_id is 'Number of the chain.';
comment on column etl.rankings.as_of is 'When the oldest of its walks began that its ranks rest on.';
comment on column etl.rankings.published_at is 'When its ranks, missing_since and history were written, by the database''s clock.';
comment on column etl.rankings.factories is 'Factories that it ranked.';
comment on column etl.rankings.walks is 'Walks that it took: more than one where rows moved meanwhile.';
comment on column etl.rankings.still_moving is 'Whether rows still moved during the last walk, so that a factory may be missing from it or ranked by an older count.';
--> statement-breakpoint
comment on table explorer.factories is 'Wallet factories with their number of accounts. Source: /proxy/account-abstraction/factories.';
comment on column explorer.factories.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.factories.address_hash is 'The factory''s address, its identity, see explorer.addresses; API field address. Lower-case hex with 0x, 20 bytes.';
comment on column explorer.factories.total_accounts is 'Accounts that the factory made, as last read; may fall; API field total_accounts. Null: not told.';
comment on column explorer.factories.rank is 'Place in the newest complete ranking, 1 has the most accounts; from the order served, no field. Null: not in that ranking, or none is complete.';
comment on column explorer.factories.missing_since is 'When a complete ranking first lacked the factory, by the database''s clock. Null: it is in the newest one, or none is complete since it was seen.';
comment on column explorer.factories.extra is 'Fields of the factory that no column holds, as served, and values of another type or format under their field''s name and what is off (total_accounts (string)). Null: none.';
comment on column explorer.factories.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.factories.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.factories.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.factory_history is 'One row for each change of a factory''s count from one complete ranking to the next.';
comment on column explorer.factory_history.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.factory_history.address_hash is 'The factory: explorer.factories.address_hash.';
comment on column explorer.factory_history.observed_at is 'When the ranking was published that found the change, by the database''s clock.';
comment on column explorer.factory_history.total_accounts is 'Accounts in that ranking; API field total_accounts. Null: not told.';
comment on column explorer.factory_history.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.factory_history.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.factory_history.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table etl.batch_observations is 'Where the lists of Optimism batches were last seen to begin and to end: a batch is settled only where its stored blocks begin and end there too.';
comment on column etl.batch_observations.chain_id is 'Number of the chain.';
comment on column etl.batch_observations.batch_number is 'Number of the batch.';
comment on column etl.batch_observations.top is 'Highest block that the newest walk from the list''s beginning was served. Null: it was served none, or was not conclusive.';
comment on column etl.batch_observations.bottom is 'Lowest block that the newest walk to the list''s end was served. Null: it was served none, or was not conclusive.';
comment on column etl.batch_observations.parent_hash is 'Parent hash of that block, as it was stored then. Null: not told.';
comment on column etl.batch_observations.times_seen is 'How many walks in a row have seen the list end there, on the same parent. 0: the newest walk had a page out of order or an item in quarantine.';
comment on column etl.batch_observations.walk_id is 'The newest walk that said so.';
comment on column etl.batch_observations.run_id is 'The run of the newest walk to the list''s end: a batch is settled only in the run that has seen its end.';
--> statement-breakpoint
comment on table explorer.block_arbitrum is 'What Arbitrum chains add to a block; no row where the block has no arbitrum object. Source: arbitrum of a block.';
comment on column explorer.block_arbitrum.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.block_arbitrum.block_height is 'Block that it belongs to: explorer.blocks.height.';
comment on column explorer.block_arbitrum.batch_number is 'Number of the block''s batch on the parent chain; API field arbitrum.batch_number. Null: not told.';
comment on column explorer.block_arbitrum.status is 'How far the block is secured on the parent chain, such as Confirmed on base; API field arbitrum.status, free text. Null: not told.';
comment on column explorer.block_arbitrum.batch_data_container is 'Where the batch''s data lies, such as in_blob4844; API field arbitrum.batch_data_container, free text. Null: not told.';
comment on column explorer.block_arbitrum.delayed_messages is 'Number of delayed messages; API field arbitrum.delayed_messages. Null: not told.';
comment on column explorer.block_arbitrum.l1_block_number is 'Height of the parent chain that the block refers to; API field arbitrum.l1_block_number. Null: not told.';
comment on column explorer.block_arbitrum.send_count is 'Count of messages sent to the parent chain; API field arbitrum.send_count. Null: not told.';
comment on column explorer.block_arbitrum.send_root is 'Root of the tree of sent messages; API field arbitrum.send_root. Lower-case hex with 0x, 32 bytes. Null: not told.';
comment on column explorer.block_arbitrum.commitment_transaction_hash is 'Hash of the commitment transaction on the parent chain; API field arbitrum.commitment_transaction.hash. Null: not told.';
comment on column explorer.block_arbitrum.commitment_transaction_status is 'Status of the commitment transaction on the parent chain, such as unfinalized; API field arbitrum.commitment_transaction.status, free text. Null: not told.';
comment on column explorer.block_arbitrum.commitment_transaction_timestamp is 'Time of the commitment transaction on the parent chain, UTC; API field arbitrum.commitment_transaction.timestamp. Null: not told.';
comment on column explorer.block_arbitrum.confirmation_transaction_hash is 'Hash of the confirmation transaction on the parent chain; API field arbitrum.confirmation_transaction.hash. Null: not told.';
comment on column explorer.block_arbitrum.confirmation_transaction_status is 'Status of the confirmation transaction on the parent chain, such as unfinalized; API field arbitrum.confirmation_transaction.status, free text. Null: not told.';
comment on column explorer.block_arbitrum.confirmation_transaction_timestamp is 'Time of the confirmation transaction on the parent chain, UTC; API field arbitrum.confirmation_transaction.timestamp. Null: not told.';
comment on column explorer.block_arbitrum.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.block_arbitrum.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.block_arbitrum.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.block_reorgs is 'Every block hash that another one replaced at its height: a reorganisation, seen when the block was read again.';
comment on column explorer.block_reorgs.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.block_reorgs.height is 'Block number at which the hash changed.';
comment on column explorer.block_reorgs.old_hash is 'Hash that was stored before. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.block_reorgs.new_hash is 'Hash that took its place. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.block_reorgs.observed_at is 'When the change was seen, by the database''s clock.';
comment on column explorer.block_reorgs.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.block_reorgs.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.block_reorgs.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.block_rewards is 'Rewards of a block, in the order served. Source: rewards[] of a block.';
comment on column explorer.block_rewards.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.block_rewards.block_height is 'Block that it belongs to: explorer.blocks.height.';
comment on column explorer.block_rewards.position is 'Place in rewards[], from 0.';
comment on column explorer.block_rewards.reward is 'The reward in wei; API field rewards[].reward. Null: not told.';
comment on column explorer.block_rewards.type is 'Kind of reward, free text; API field rewards[].type. Null: not told.';
comment on column explorer.block_rewards.address_hash is 'Who was rewarded; API field rewards[].address_hash. Lower-case hex with 0x, 20 bytes. Null: not told; newer versions of the API do not tell it.';
comment on column explorer.block_rewards.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.block_rewards.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.block_rewards.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.block_uncles is 'Uncles of a block, in the order served. Source: uncles_hashes[] of a block.';
comment on column explorer.block_uncles.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.block_uncles.block_height is 'Block that it belongs to: explorer.blocks.height.';
comment on column explorer.block_uncles.position is 'Place in uncles_hashes[], from 0.';
comment on column explorer.block_uncles.hash is 'Hash of the uncle; API field uncles_hashes[].hash. Lower-case hex with 0x, 32 bytes. Null: not told.';
comment on column explorer.block_uncles.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.block_uncles.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.block_uncles.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.blocks is 'Blocks that Optimism batches listed, one row for each height. Source: /blocks/optimism-batch/{batch}. A null means that the API said null or nothing.';
comment on column explorer.blocks.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.blocks.height is 'Block number; API field height.';
comment on column explorer.blocks.hash is 'Hash of the block that stands at this height now; API field hash. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.blocks.parent_hash is 'Hash of the block below; API field parent_hash. Lower-case hex with 0x, 32 bytes. Null: not told.';
comment on column explorer.blocks.timestamp is 'When the block was made, UTC; API field timestamp. Null: not told.';
comment on column explorer.blocks.type is 'Kind of block, such as block; API field type, free text. Null: not told.';
comment on column explorer.blocks.miner_hash is 'Address that made the block, see explorer.addresses; API field miner.hash. Lower-case hex with 0x, 20 bytes. Null: not told.';
comment on column explorer.blocks.nonce is 'Nonce of the header as hex text; API field nonce. Null: not told.';
comment on column explorer.blocks.size is 'Size of the block in bytes; API field size. Null: not told.';
comment on column explorer.blocks.is_pending_update is 'True: the explorer announces that fees and counts will still change; API field is_pending_update. Null: not told.';
comment on column explorer.blocks.transactions_count is 'Number of transactions; API field transactions_count, in older versions transaction_count or tx_count. Null: not told.';
comment on column explorer.blocks.internal_transactions_count is 'Number of internal transactions; API field internal_transactions_count. Null: not told; lists do not tell it as a rule.';
comment on column explorer.blocks.withdrawals_count is 'Number of withdrawals; API field withdrawals_count. Null: not told; lists do not tell it as a rule.';
comment on column explorer.blocks.gas_limit is 'Gas that the block may use, in gas; API field gas_limit. Null: not told.';
comment on column explorer.blocks.gas_used is 'Gas that the block used, in gas; API field gas_used. Null: not told.';
comment on column explorer.blocks.gas_used_percentage is 'gas_used of gas_limit, in percent; API field gas_used_percentage. Null: not told.';
comment on column explorer.blocks.gas_target_percentage is 'Distance of gas_used from the gas target, in percent, from -100 up; API field gas_target_percentage. Null: not told.';
comment on column explorer.blocks.base_fee_per_gas is 'Base fee, in wei per gas; API field base_fee_per_gas. Null: not told.';
comment on column explorer.blocks.burnt_fees is 'Fees that were burnt, in wei; API field burnt_fees. Null: not told.';
comment on column explorer.blocks.burnt_fees_percentage is 'Burnt part of the fees, in percent, may exceed 100; API field burnt_fees_percentage. Null: not told.';
comment on column explorer.blocks.priority_fee is 'Priority fees of the block, in wei; API field priority_fee. Null: not told.';
comment on column explorer.blocks.transaction_fees is 'Fees of all transactions, in wei; API field transaction_fees. Null: not told.';
comment on column explorer.blocks.difficulty is 'Difficulty of the block; API field difficulty. Null: not told.';
comment on column explorer.blocks.total_difficulty is 'Difficulty of the chain up to this block; API field total_difficulty. Null: not told.';
comment on column explorer.blocks.optimism_batch_number is 'Batch that listed the block when it was last read, see explorer.read_batches; the number in the request''s path, no field of the answer. Null: in none.';
comment on column explorer.blocks.extra is 'Fields of the block that no column or child table holds, as served, each where it stood, and values of another type or format under their field''s name and what is off (timestamp (malformed)). Null: none.';
comment on column explorer.blocks.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.blocks.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.blocks.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table explorer.listed_batches is 'One row for each Optimism batch that the list of batches told of. Source: optimism/batches. Queries go to explorer.optimism_batches.';
comment on column explorer.listed_batches.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.listed_batches.batch_number is 'Number of the batch; API field number, in older versions internal_id.';
comment on column explorer.listed_batches.l1_timestamp is 'When the batch was posted to L1, UTC; API field l1_timestamp. Null: not told.';
comment on column explorer.listed_batches.transactions_count is 'Transactions of the batch, of the blocks that the explorer has indexed by now; API field transactions_count, in older versions transaction_count or tx_count. Null: not told.';
comment on column explorer.listed_batches.l2_start_block_number is 'First L2 block of the batch, as it was posted to L1; API field l2_start_block_number, in older versions l2_block_start. Null: not told.';
comment on column explorer.listed_batches.l2_end_block_number is 'Last L2 block of the batch, as it was posted to L1; API field l2_end_block_number, in older versions l2_block_end. Null: not told.';
comment on column explorer.listed_batches.batch_data_container is 'Where the batch''s data is: in_blob4844, in_celestia, in_eigenda, in_alt_da, in_calldata, or a new value. Null: not told.';
comment on column explorer.listed_batches.removed_at is 'When a page showed that the batch has left the list. Null: it is listed.';
comment on column explorer.listed_batches.extra is 'Fields of the item that have no column, and values of another type or format, as JSON. Null: none.';
comment on column explorer.listed_batches.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.listed_batches.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.listed_batches.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
comment on table explorer.optimism_batch_l1_transactions is 'L1 transactions that a batch was posted in, in the order served. Source: l1_transaction_hashes[], in older versions l1_tx_hashes[].';
comment on column explorer.optimism_batch_l1_transactions.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.optimism_batch_l1_transactions.batch_number is 'Whose it is: explorer.listed_batches.batch_number.';
comment on column explorer.optimism_batch_l1_transactions.position is 'Place in the list, from 0.';
comment on column explorer.optimism_batch_l1_transactions.hash is 'Hash of the L1 transaction. Lower-case hex with 0x, 32 bytes. Null: not told.';
comment on column explorer.optimism_batch_l1_transactions.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.optimism_batch_l1_transactions.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.optimism_batch_l1_transactions.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
comment on table explorer.read_batches is 'One row for each Optimism batch that was walked to its end: what its blocks prove together. Derived from explorer.blocks, not served. Queries go to explorer.optimism_batches.';
comment on column explorer.read_batches.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.read_batches.batch_number is 'Number of the batch as the explorer counts, from 1, with holes: the number in the request''s path.';
comment on column explorer.read_batches.state is 'settled: proved whole by the chain: heights contiguous, hashes linked, no block awaits an update, and it meets the nearest batches with blocks on both sides. open: read, and may still change. empty: the list held no block, which is also the answer for a number that does not exist.';
comment on column explorer.read_batches.blocks_count is 'Number of blocks that carry this batch''s number.';
comment on column explorer.read_batches.first_height is 'Lowest of their heights. Null: no blocks.';
comment on column explorer.read_batches.last_height is 'Highest of their heights. Null: no blocks.';
comment on column explorer.read_batches.is_contiguous is 'Whether no height between first_height and last_height is missing. Null: no blocks.';
comment on column explorer.read_batches.is_linked is 'Whether each block''s parent_hash is the hash of the block below it in the batch. Null: no blocks.';
comment on column explorer.read_batches.is_proved is 'Whether the chain proves what the row says: the batch is settled, or it is empty and the nearest batches with blocks on both sides meet in height and hash. What is proved is not read again.';
comment on column explorer.read_batches.walked_at is 'When the walk ended that last changed this row or first told of it, by the database''s clock.';
comment on column explorer.read_batches.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.read_batches.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.read_batches.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table etl.late_arrivals is 'Items that appeared where their list had been proved complete without them.';
comment on column etl.late_arrivals.chain_id is 'Number of the chain.';
comment on column etl.late_arrivals.operation is 'Name of the operation whose list it is.';
comment on column etl.late_arrivals.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.late_arrivals.key is 'Key of the item: the hash of a user operation, the number of a batch.';
comment on column etl.late_arrivals.height is 'Where it appeared: the block of a user operation, the number of a batch.';
comment on column etl.late_arrivals.timestamp is 'Its own time, UTC. Null: not told.';
comment on column etl.late_arrivals.seen_at is 'When the walk that first met it began, by the clock of its worker.';
comment on column etl.late_arrivals.page_id is 'etl.pages.id of the page that brought it.';
--> statement-breakpoint
comment on table explorer.user_operations is 'User operations of account abstraction (ERC-4337), one row for each hash. Source: /proxy/account-abstraction/operations.';
comment on column explorer.user_operations.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.user_operations.hash is 'Hash of the user operation, its identity; API field hash. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.user_operations.block_number is 'Height of the block that includes it; API field block_number, a string there. Null: not told.';
comment on column explorer.user_operations.timestamp is 'Time of that block, UTC; API field timestamp. Null: not told.';
comment on column explorer.user_operations.status is 'True: it succeeded; false: it failed; API field status. Null: not told.';
comment on column explorer.user_operations.address_hash is 'Sender: the smart account, see explorer.addresses; API field address. Lower-case hex with 0x, 20 bytes. Null: not told.';
comment on column explorer.user_operations.entry_point_hash is 'Entry point contract that ran it, see explorer.addresses; API field entry_point. Lower-case hex with 0x, 20 bytes. Null: not told.';
comment on column explorer.user_operations.entry_point_version is 'Version of the entry point, such as v0.7; API field entry_point_version, free text. Null: not told.';
comment on column explorer.user_operations.transaction_hash is 'Transaction that included it; API field transaction_hash. Lower-case hex with 0x, 32 bytes. Null: not told.';
comment on column explorer.user_operations.fee is 'What it cost, in wei: gas price, rounded down, times gas used, so it may be a little low; API field fee. Null: not told.';
comment on column explorer.user_operations.removed_at is 'When it was found to have left the list. Null: it has not, as far as pages that were read since say.';
comment on column explorer.user_operations.extra is 'Fields of the operation that no column holds, as served, and values of another type or format under their field''s name and what is off (fee (malformed)). Null: none.';
comment on column explorer.user_operations.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.user_operations.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.user_operations.page_id is 'etl.pages.id of the page that last changed the row: why the row is as it is.';
--> statement-breakpoint
comment on table etl.drift is 'Where items differ from the specification: what was kept, how often it was seen, and first on which page.';
comment on column etl.drift.chain_id is 'Number of the chain.';
comment on column etl.drift.operation is 'Name of the operation, such as user-operations.';
comment on column etl.drift.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.drift.path is 'Where in an item, such as address.proxy_type or rewards[].type.';
comment on column etl.drift.kind is 'field: not named by the specification. vanished: was on every item, is on none. type: another JSON type. format: another format, such as 0x for a hash. value: not among the known values.';
comment on column etl.drift.detail is 'The new type or value, or what was expected of the format, at most 100 characters; empty for other kinds.';
comment on column etl.drift.occurrences is 'How often it was seen: in items, or for vanished ones on pages.';
comment on column etl.drift.first_page_id is 'etl.pages.id of the page that first showed it.';
comment on column etl.drift.first_seen_at is 'When it was first seen.';
--> statement-breakpoint
comment on table etl.feed_minutes is 'How current each feed was, minute by minute, as a working process noted it: one row a minute and feed, after a day one each quarter of an hour with the worst of it, for 31 days.';
comment on column etl.feed_minutes.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.feed_minutes.minute is 'The minute; once thinned, the beginning of the quarter of an hour. Where there is none, no process worked or wrote.';
comment on column etl.feed_minutes.lag_s is 'Age of the newest item, of the newest batch''s last block, or of the last ranking, in seconds; once thinned, the greatest. Null: nothing is stored yet.';
comment on column etl.feed_minutes.looked_age_s is 'Since the last run began that went to the head of the list and finished, in seconds; once thinned, the greatest. Null: none has.';
comment on column etl.feed_minutes.span_s is 'How much time the row tells of, in seconds: 60, once thinned 900.';
comment on column etl.feed_minutes.objective_s is 'How old that look may be, in seconds; once thinned, the least. Null: nothing is to come, so nothing is late.';
--> statement-breakpoint
comment on table etl.lane_minutes is 'What each lane did, minute by minute: every process adds its own counts once a minute, so a kill loses a minute of them. After a day one row each quarter of an hour with the sums, for 31 days.';
comment on column etl.lane_minutes.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.lane_minutes.lane is 'live or backfill.';
comment on column etl.lane_minutes.minute is 'The minute, by the database''s clock; once thinned, the beginning of the quarter of an hour.';
comment on column etl.lane_minutes.pages is 'Pages that were committed.';
comment on column etl.lane_minutes.inserted is 'Rows that they added to the operation''s own table.';
comment on column etl.lane_minutes.changed is 'Rows that they changed there.';
comment on column etl.lane_minutes.quarantined is 'Items of theirs that could not become rows.';
comment on column etl.lane_minutes.requests is 'Requests that left, each attempt by itself.';
comment on column etl.lane_minutes.credits is 'What those cost of the key''s credits.';
comment on column etl.lane_minutes.span_s is 'How much time the row tells of, in seconds: 60, once thinned 900.';
comment on column etl.lane_minutes.failures is 'Requests that failed, by class of failure, such as {"throttled": 3}; empty where none did.';
--> statement-breakpoint
comment on table etl.lane_totals is 'What the ended walks of each lane come to together, kept by triggers on etl.walks, with those of etl.thinnings: reports and polls read it instead of a year of walks.';
comment on column etl.lane_totals.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.lane_totals.lane is 'live or backfill.';
comment on column etl.lane_totals.pages is 'Pages that they committed.';
comment on column etl.lane_totals.inserted is 'Rows that they added to the operation''s own table.';
comment on column etl.lane_totals.archived_bytes is 'Bytes of their pages in etl.raw_pages, compressed.';
comment on column etl.lane_totals.credits is 'What their pages cost of the key''s credits.';
comment on column etl.lane_totals.spanned_items is 'Items of those that kept the order of the list.';
comment on column etl.lane_totals.spanned_blocks is 'Blocks that those went over.';
comment on column etl.lane_totals.proved is 'Blocks that they prove complete together: the union of etl.walks.proved, which verify computes again.';
comment on column etl.lane_totals.last_page_at is 'When one of them committed a page last. Null: none did.';
--> statement-breakpoint
comment on table etl.pages is 'The ledger: one row for each page that was committed. Numbers that are missing belong to requests whose page was not committed.';
comment on column etl.pages.id is 'Number of the page, taken before its request leaves: the higher one is the newer observation.';
comment on column etl.pages.walk_id is 'etl.walks.id of the walk that read it.';
comment on column etl.pages.feed is 'Name of the walk''s feed: ways into the middle of a list are sought among the pages of all its walks.';
comment on column etl.pages.sequence is 'Place in the walk, from 0.';
comment on column etl.pages.cursor_in is 'Cursor that the page was asked for with: declared fields only. Null: the first page.';
comment on column etl.pages.cursor_out is 'Cursor of the next page, from next_page_params: declared fields only. Null: the list ends here.';
comment on column etl.pages.items is 'Elements of items: rows + repeats + quarantined, always.';
comment on column etl.pages.rows is 'Items that became rows.';
comment on column etl.pages.repeats is 'Items that repeat another item of the same page.';
comment on column etl.pages.quarantined is 'Items that went to etl.quarantine.';
comment on column etl.pages.inserted is 'Rows that the page added to the operation''s own table.';
comment on column etl.pages.changed is 'Rows that the page changed in the operation''s own table.';
comment on column etl.pages.top is 'Highest block number on the page. Null: none, or the list is not ordered by block.';
comment on column etl.pages.bottom is 'Lowest block number on the page. Null: none, or the list is not ordered by block.';
comment on column etl.pages.heights is 'Heights of the page''s rows, for pages of Optimism batches: what a finished walk did not serve is no longer in its batch. Null for others.';
comment on column etl.pages.is_ordered is 'Whether the page kept the order of the list, within itself and after the page before it.';
comment on column etl.pages.is_end_told is 'Whether its last item tells the block that it stands in. Where it does not, nobody knows where the page ends, and the next one removes nothing above its own first item.';
comment on column etl.pages.is_joined is 'Whether its first item is the one that the page before led to, so that nothing is missing between the two.';
comment on column etl.pages.misplaced is 'Items whose block the page''s other items or its neighbours contradict, counted from 0: their rows don''t tell it. Null: none.';
comment on column etl.pages.jumped is 'Blocks of stored operations that the page skips, more than leave a list at once: it proves nothing, and removes nothing unless another walk skips the same. Null: none.';
comment on column etl.pages.last_key is 'Key of the last item that tells its block, in a list ordered by block: with bottom, where the next page goes on. Null: none.';
comment on column etl.pages.bytes is 'Size of the body on the wire, in bytes, compressed if it was.';
comment on column etl.pages.body_hash is 'SHA-256 of the decompressed body, hex.';
comment on column etl.pages.attempts is 'Requests that it took, the successful one included.';
comment on column etl.pages.latency_ms is 'From sending to the last byte of the successful request, in ms.';
comment on column etl.pages.credits is 'What it cost of the key''s credits by the price list: 20 for each attempt.';
comment on column etl.pages.fetched_at is 'When the request was let go, by the database''s clock.';
--> statement-breakpoint
comment on table etl.quarantine is 'Items that could not become rows, as served, each once.';
comment on column etl.quarantine.id is 'Number of the entry.';
comment on column etl.quarantine.chain_id is 'Number of the chain.';
comment on column etl.quarantine.operation is 'Name of the operation, such as user-operations.';
comment on column etl.quarantine.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.quarantine.scope is '{"batch": n} for blocks of an Optimism batch, else {}.';
comment on column etl.quarantine.raw is 'The item as served, after NUL characters were removed.';
comment on column etl.quarantine.raw_hash is 'SHA-256 of the item''s JSON text, hex: tells the same item again.';
comment on column etl.quarantine.reason is 'The fields that are wrong, and what was expected of them.';
comment on column etl.quarantine.page_id is 'etl.pages.id of the page that first showed it.';
comment on column etl.quarantine.last_page_id is 'etl.pages.id of the newest page that served it again; quarantine retry writes its rows as of that page. Null: none did.';
comment on column etl.quarantine.position is 'Place of the item among all items of its walk, from 0.';
comment on column etl.quarantine.from_block is 'Lowest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
comment on column etl.quarantine.to_block is 'Highest block that the item can stand in, by its neighbours on the page, for lists ordered by block. Null: not known.';
comment on column etl.quarantine.first_seen_at is 'When it was first stored.';
comment on column etl.quarantine.dropped_at is 'When a person dropped it: it is no row, and no longer open. Null: it waits.';
--> statement-breakpoint
comment on table etl.raw_pages is 'Bodies of pages, for replay; filled where explorer.archive is all.';
comment on column etl.raw_pages.page_id is 'etl.pages.id of the page.';
comment on column etl.raw_pages.body is 'The body, in the encoding named.';
comment on column etl.raw_pages.encoding is 'How the body is compressed.';
comment on column etl.raw_pages.stored_at is 'When the transaction began that wrote the page: the time that its rows bear.';
--> statement-breakpoint
comment on table etl.steady_fields is 'Fields that were on every item of a page with ten or more: should they be on none, they have vanished.';
comment on column etl.steady_fields.chain_id is 'Number of the chain.';
comment on column etl.steady_fields.operation is 'Name of the operation, such as user-operations.';
comment on column etl.steady_fields.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.steady_fields.path is 'Where in an item.';
comment on column etl.steady_fields.page_id is 'etl.pages.id of the page that first had it on every item.';
--> statement-breakpoint
comment on table etl.thinnings is 'What was thinned out of the ledger of each lane (explorer.ledger_days): walks that brought nothing, and whose blocks older walks prove.';
comment on column etl.thinnings.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.thinnings.lane is 'live or backfill.';
comment on column etl.thinnings.walks is 'Walks that were deleted.';
comment on column etl.thinnings.runs is 'Runs that were deleted with the last of their walks.';
comment on column etl.thinnings.pages is 'Pages of those walks.';
comment on column etl.thinnings.credits is 'What the pages cost of the key''s credits.';
comment on column etl.thinnings.spanned_items is 'Items of those that kept the order of the list.';
comment on column etl.thinnings.spanned_blocks is 'Blocks that those went over.';
comment on column etl.thinnings.last_ended_at is 'When the newest of them ended.';
--> statement-breakpoint
comment on table etl.walks is 'Passes along a chain of pages: what each covers, how far it came, where it goes on.';
comment on column etl.walks.id is 'Number of the walk.';
comment on column etl.walks.chain_id is 'Number of the chain.';
comment on column etl.walks.operation is 'Name of the operation, such as user-operations.';
comment on column etl.walks.feed is 'Name of the feed, such as 10/user-operations.';
comment on column etl.walks.lane is 'live or backfill; version 0.1 uses backfill alone.';
comment on column etl.walks.run_id is 'etl.runs.id of the run that it belongs to.';
comment on column etl.walks.kind is 'How its list is ordered: newest-first, a walk along it; numbered, a walk for each batch; ranked, a walk of all of it that counts as one observation.';
comment on column etl.walks.scope is 'What the walk covers: batch, since, max_pages, probe (a check whether the batch is there); {} is the whole list.';
comment on column etl.walks.batch is 'The Optimism batch of the scope. Null: a walk of a list.';
comment on column etl.walks.state is 'running: has pages left to read, whether or not a worker is on it. finished, failed, abandoned: ended, see src/walk/SPEC.md.';
comment on column etl.walks.failure is 'The class of why it failed or was abandoned. Null: neither, or of no class.';
comment on column etl.walks.reason is 'Why it ended before the end of the list: floor, since, max-pages, cursor loop, superseded or what the explorer said; or why it says less than a whole list though it reached the end: moved (rows moved during a ranking), skipped (an empty page led on past a part of it), empty (nobody was listed, where there was somebody). Null: neither.';
comment on column etl.walks.cursor is 'The checkpoint: cursor of the next page to fetch. Null: the first page, or the list has ended.';
comment on column etl.walks.revision is 'Raised whenever the walk is taken, moved or ended; whoever holds an older one can write nothing.';
comment on column etl.walks.floor is 'Block that the walk goes past before it ends, or where the next of several walks begins. Null: it goes to the list''s end, or to the bounds of its scope.';
comment on column etl.walks.depth_ms is 'How far below the covered top a live walk was to go, in ms of the items'' own time. Null: no live walk.';
comment on column etl.walks.from_head is 'Whether it began at the head of the list; else at a cursor from the ledger.';
comment on column etl.walks.is_ordered is 'Whether all of its pages kept the order of the list; if not, neither coverage nor removal is concluded from it.';
comment on column etl.walks.proved is 'Blocks of which the walk''s pages prove that all items are here: what lies between the highest and the lowest item of pages that follow each other, both excluded. Empty for other kinds of list.';
comment on column etl.walks.stretch_top is 'Highest block of the pages that the next page goes on from. Null: it begins anew, so that nothing is proved across.';
comment on column etl.walks.cuts is 'Places at which the walk''s pages prove nothing: out of order, not what was asked for, empty in the middle of the list, or skipping stored rows.';
comment on column etl.walks.top is 'Highest block on the walk''s pages that other witnesses bear out. Null: none.';
comment on column etl.walks.bottom is 'Lowest block on the walk''s pages that other witnesses bear out. Null: none.';
comment on column etl.walks.pages is 'Pages committed.';
comment on column etl.walks.items is 'Items on those pages.';
comment on column etl.walks.inserted is 'Rows that the walk added to the operation''s own table.';
comment on column etl.walks.changed is 'Rows that the walk changed in the operation''s own table.';
comment on column etl.walks.quarantined is 'Items that went to etl.quarantine, counted once for each page that served them.';
comment on column etl.walks.archived_bytes is 'Bytes of its pages in etl.raw_pages, compressed.';
comment on column etl.walks.credits is 'What its pages cost of the key''s credits.';
comment on column etl.walks.empty_run is 'Empty pages in a row at the checkpoint; 100 end the walk.';
comment on column etl.walks.started_at is 'When the walk was begun.';
comment on column etl.walks.updated_at is 'When the checkpoint last moved, or the worker gave the walk up.';
comment on column etl.walks.finished_at is 'When the walk ended. Null: it is running.';
--> statement-breakpoint
comment on table etl.migrations is 'Migrations that this database has had; written by the migrator.';
comment on column etl.migrations.id is 'Number of the entry.';
comment on column etl.migrations.hash is 'SHA-256 of the migration''s text, hex.';
comment on column etl.migrations.created_at is 'When the migration was made, in ms since 1970: its name in migrations/meta/_journal.json.';
