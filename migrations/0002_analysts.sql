-- By themselves these are vacuumed when they have grown by a fifth: until then a count of the newest rows reads
-- each of them, not their index alone (docs/decisions/0027-indexes.md).
alter table explorer.user_operations set (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
--> statement-breakpoint
alter table explorer.blocks set (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
);
--> statement-breakpoint
create function explorer.time_of_block(
  of_chain bigint, of_block bigint
) returns table ("timestamp" timestamptz, source text)
language plpgsql stable rows 1 as $$
#variable_conflict use_column
begin
  return query
  select timestamp, 'block' from explorer.blocks
  where chain_id = of_chain and height = of_block and timestamp is not null;
  if found then
    return;
  end if;
  return query
  select min(timestamp), 'sibling' from explorer.user_operations
  where chain_id = of_chain and block_number = of_block and timestamp is not null and removed_at is null
  having count(*) > 0;
end
$$;
--> statement-breakpoint
comment on function explorer.time_of_block is 'Time of a block by what else is stored of it: the block itself, or another operation in it.';
--> statement-breakpoint
create function etl.timeless_operations() returns table (
  chain_id bigint, hash text, "timestamp" timestamptz, timestamp_source text, block_number bigint,
  transaction_hash text, status boolean, address_hash text, entry_point_hash text,
  entry_point_version text, fee numeric, removed_at timestamptz, first_seen_at timestamptz,
  updated_at timestamptz, page_id bigint
)
language plpgsql stable rows 100 as $$
declare
  op explorer.user_operations;
begin
  for op in select * from explorer.user_operations where user_operations.timestamp is null loop
    select told.timestamp, told.source into timestamp, timestamp_source
    from explorer.time_of_block(op.chain_id, op.block_number) as told;
    chain_id := op.chain_id;
    hash := op.hash;
    block_number := op.block_number;
    transaction_hash := op.transaction_hash;
    status := op.status;
    address_hash := op.address_hash;
    entry_point_hash := op.entry_point_hash;
    entry_point_version := op.entry_point_version;
    fee := op.fee;
    removed_at := op.removed_at;
    first_seen_at := op.first_seen_at;
    updated_at := op.updated_at;
    page_id := op.page_id;
    return next;
  end loop;
end
$$;
--> statement-breakpoint
comment on function etl.timeless_operations is 'User operations that tell no time, with that of their block. As a function: of a union whose arms have conditions or joins the planner takes no order from an index. With a loop: a server that holds a part of the rows alone has no blocks to join.';
--> statement-breakpoint
create view etl.timed_operations as
select * from (
  select chain_id, hash, timestamp, 'operation'::text as timestamp_source, block_number,
         transaction_hash, status, address_hash, entry_point_hash, entry_point_version, fee,
         removed_at, first_seen_at, updated_at, page_id
  from explorer.user_operations
  union all
  select chain_id, hash collate "C", timestamp, timestamp_source, block_number,
         transaction_hash collate "C", status, address_hash collate "C", entry_point_hash collate "C",
         entry_point_version, fee::numeric(78, 0), removed_at, first_seen_at, updated_at, page_id
  from etl.timeless_operations()
) as op
-- Of the first arm those that tell a time.
where (timestamp is not null or timestamp_source is distinct from 'operation') and removed_at is null;
--> statement-breakpoint
comment on view etl.timed_operations is 'User operations that are in their list, with the time of the block where they tell none.';
--> statement-breakpoint
create view explorer.operations_enriched as
select op.chain_id, chains.name as chain_name, op.hash, op.timestamp, op.timestamp_source,
       op.block_number, blocks.optimism_batch_number, op.transaction_hash, op.status,
       op.address_hash, coalesce(sender.name, sender.ens_domain_name) as sender_name,
       case when sender.proxy_type is not null then sender.proxy_type
            when sender.is_contract then 'contract'
            when not sender.is_contract then 'account' end as sender_kind,
       op.entry_point_hash, coalesce(entry_point.name, entry_point.ens_domain_name) as entry_point_name,
       case when entry_point.proxy_type is not null then entry_point.proxy_type
            when entry_point.is_contract then 'contract'
            when not entry_point.is_contract then 'account' end as entry_point_kind,
       op.entry_point_version, op.fee,
       -- The usual decimals as a literal: to make the number for each row takes longer than all else of the fee.
       op.fee * case chains.native_decimals when 18 then 1e-18
                     else ('1e-' || chains.native_decimals)::numeric end as fee_native,
       chains.native_symbol,
       (
         select max(greatest(late.seen_at - late.timestamp, interval '0'))
         from etl.late_arrivals as late
         where late.feed = op.chain_id || '/user-operations' and late.key = op.hash collate "default"
       ) as lateness,
       op.first_seen_at, op.updated_at, op.page_id
from etl.timed_operations as op
left join explorer.chains on chains.chain_id = op.chain_id
left join explorer.addresses as sender
  on sender.chain_id = op.chain_id and sender.hash = op.address_hash
left join explorer.addresses as entry_point
  on entry_point.chain_id = op.chain_id and entry_point.hash = op.entry_point_hash
left join explorer.blocks on blocks.chain_id = op.chain_id and blocks.height = op.block_number;
--> statement-breakpoint
comment on view explorer.operations_enriched is 'User operations that are in their list, one row each: with a time where one is known, the fee in the chain''s own currency, and names.';
comment on column explorer.operations_enriched.chain_id is 'Number of the chain.';
comment on column explorer.operations_enriched.chain_name is 'Name of the chain, as configured.';
comment on column explorer.operations_enriched.hash is 'Hash of the operation.';
comment on column explorer.operations_enriched.timestamp is 'When it was executed, UTC: its own time, or the one of its block. Null: neither is known.';
comment on column explorer.operations_enriched.timestamp_source is 'Who tells the time. operation: itself. block: its block, from optimism-batch-blocks. sibling: another operation in the same block. Null: nobody.';
comment on column explorer.operations_enriched.block_number is 'Height of its block. Null: not told.';
comment on column explorer.operations_enriched.optimism_batch_number is 'Optimism batch of its block. Null: the block was not read, or is in no batch.';
comment on column explorer.operations_enriched.transaction_hash is 'Hash of the transaction that executed it. Null: not told.';
comment on column explorer.operations_enriched.status is 'Whether it succeeded. Null: not told.';
comment on column explorer.operations_enriched.address_hash is 'Its sender, the smart account: explorer.addresses.hash. Null: not told.';
comment on column explorer.operations_enriched.sender_name is 'Name of the sender, else its ENS domain. Null: it has neither.';
comment on column explorer.operations_enriched.sender_kind is 'What the sender is: its kind of proxy, such as eip7702, else contract, else account. Null: not told.';
comment on column explorer.operations_enriched.entry_point_hash is 'Entry point contract: explorer.addresses.hash. Null: not told.';
comment on column explorer.operations_enriched.entry_point_name is 'Name of the entry point, else its ENS domain. Null: it has neither.';
comment on column explorer.operations_enriched.entry_point_kind is 'What the entry point is, as sender_kind. Null: not told.';
comment on column explorer.operations_enriched.entry_point_version is 'Version of the entry point, such as v0.7. Null: not told.';
comment on column explorer.operations_enriched.fee is 'Fee in wei. Null: not told.';
comment on column explorer.operations_enriched.fee_native is 'Fee in the chain''s own currency, exact: native_symbol names it. Null: no fee is reported.';
comment on column explorer.operations_enriched.native_symbol is 'Symbol of that currency. Null: not known.';
comment on column explorer.operations_enriched.lateness is 'How much later than its own time it was first seen, if its list had been proved complete without it. Null: it was in time.';
comment on column explorer.operations_enriched.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.operations_enriched.updated_at is 'When the row last changed, by the database''s clock.';
comment on column explorer.operations_enriched.page_id is 'Page that last changed the row: explorer.provenance.page_id.';
--> statement-breakpoint
insert into etl.rollups (name)
values ('operation_days'), ('sender_sums'), ('block_days'), ('batch_sums');
--> statement-breakpoint
create function etl.utc_day(at timestamptz) returns date
language sql stable return (at at time zone 'UTC')::date;
--> statement-breakpoint
create function etl.start_of_day(day date) returns timestamptz
language sql stable return day::timestamp at time zone 'UTC';
--> statement-breakpoint
-- One after the other, by the index: from the first to the last there may be 9,999 years, if the service lies.
create function etl.days_of_operations() returns setof date
language plpgsql stable as $$
declare
  at timestamptz;
begin
  select min(timestamp) into at from explorer.user_operations;
  while at is not null loop
    return next etl.utc_day(at);
    select min(timestamp) into at from explorer.user_operations
    where timestamp >= etl.start_of_day(etl.utc_day(at) + 1);
  end loop;
end
$$;
--> statement-breakpoint
create function etl.days_of_blocks() returns setof date
language plpgsql stable as $$
declare
  at timestamptz;
begin
  select min(timestamp) into at from explorer.blocks;
  while at is not null loop
    return next etl.utc_day(at);
    select min(timestamp) into at from explorer.blocks
    where timestamp >= etl.start_of_day(etl.utc_day(at) + 1);
  end loop;
end
$$;
--> statement-breakpoint
create function etl.all_operation_days() returns table (chain_id bigint, key text)
language plpgsql stable as $$
begin
  return query
  select chains.chain_id, day::text from explorer.chains, etl.days_of_operations() as day
  union
  select days.chain_id, day::text from etl.operation_days as days;
  perform 1 from explorer.user_operations where timestamp is null limit 1;
  if found then
    -- Then there may be operations wherever there are blocks.
    return query
    select chains.chain_id, day::text from explorer.chains, etl.days_of_blocks() as day;
  end if;
end
$$;
--> statement-breakpoint
create function etl.stale_operation_days(since timestamptz) returns table (chain_id bigint, key text)
language plpgsql stable as $$
#variable_conflict use_column
declare
  written record;
begin
  for written in
    select distinct chain_id as of_chain, (timestamp at time zone 'UTC')::date as day,
           first_seen_at < updated_at as has_changed
    from explorer.user_operations
    where updated_at >= since and timestamp is not null
  loop
    -- One that has changed may have been on the day before or after: its block was reorganised at midnight.
    return query
    select written.of_chain, (written.day + shift)::text
    from generate_series(-1, 1) as shift
    where shift = 0 or written.has_changed;
  end loop;
  for written in
    with fresh as materialized (
      select chain_id, height, first_seen_at < updated_at as has_changed
      from explorer.blocks where updated_at >= since
    )
    select op.chain_id as of_chain, block_number as block, has_changed
    from explorer.user_operations as op
    join fresh on fresh.chain_id = op.chain_id and height = block_number
    where op.timestamp is null
    union
    select chain_id, block_number, first_seen_at < updated_at from explorer.user_operations
    where updated_at >= since and timestamp is null
  loop
    return query
    select written.of_chain, (etl.utc_day(told.timestamp) + shift)::text
    from explorer.time_of_block(written.of_chain, written.block) as told, generate_series(-1, 1) as shift
    where shift = 0 or written.has_changed;
    -- Until its block was told, it had the time of a sibling.
    return query
    select written.of_chain, etl.utc_day(timestamp)::text
    from explorer.user_operations
    where chain_id = written.of_chain and block_number = written.block and timestamp is not null;
  end loop;
end
$$;
--> statement-breakpoint
create function etl.sum_operation_days(of_chain bigint, keys text[]) returns void
language plpgsql as $$
declare
  of_day date;
begin
  delete from etl.operation_days where chain_id = of_chain and day = any(keys::date[]);
  -- One by one, so that each finds its rows by their time.
  foreach of_day in array keys::date[] loop
    insert into etl.operation_days (
      chain_id, day, entry_point_version, operations, failed, senders, fees
    )
    with timed as materialized (
      select entry_point_version, status, address_hash, fee, block_number
      from explorer.user_operations
      where chain_id = of_chain and removed_at is null
        and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
    ), blocks_of_day as materialized (
      select height from explorer.blocks
      where chain_id = of_chain
        and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
      union
      select block_number from timed
      where not exists (
        select from explorer.blocks
        where chain_id = of_chain and height = block_number and timestamp is not null
      )
    ), timeless as materialized (
      select entry_point_version, status, address_hash, fee
      from explorer.user_operations
      join blocks_of_day on height = block_number
      where chain_id = of_chain and removed_at is null and timestamp is null
    )
    select of_chain, of_day, entry_point_version, count(*), count(*) filter (where not status),
           count(distinct address_hash), sum(fee)
    from (
      select entry_point_version, status, address_hash, fee from timed
      union all
      select entry_point_version, status, address_hash, fee from timeless
    ) as of_the_day
    group by entry_point_version;
  end loop;
end
$$;
--> statement-breakpoint
create view explorer.operations_daily as
select chain_id, day, entry_point_version, operations, failed, senders,
       fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.operation_days
left join explorer.chains using (chain_id);
--> statement-breakpoint
comment on view explorer.operations_daily is 'User operations of each chain and UTC day, by version of the entry point. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.operations_daily.chain_id is 'Number of the chain.';
comment on column explorer.operations_daily.day is 'The day, UTC.';
comment on column explorer.operations_daily.entry_point_version is 'Version of the entry point, such as v0.7. Null: not told.';
comment on column explorer.operations_daily.operations is 'Operations that were executed on that day and are in their list.';
comment on column explorer.operations_daily.failed is 'Those of them that failed.';
comment on column explorer.operations_daily.senders is 'Senders of these operations. One that used two versions counts in both rows.';
comment on column explorer.operations_daily.fee_native is 'Fees of these operations, in the chain''s own currency, exact: native_symbol names it. Null: no fee is reported.';
comment on column explorer.operations_daily.native_symbol is 'Symbol of that currency. Null: not known.';
--> statement-breakpoint
create function etl.all_sender_sums() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  -- Beginnings of addresses, so many that each is the work of a short transaction: some 20,000 operations at most.
  select chain_id, '0x' || lpad(to_hex(part), digits, '0')
  from (
    select chains.chain_id,
           greatest(1, ceil(log(16, greatest(1, sum(inserted) / 20000.0))))::int as digits
    from explorer.chains
    left join etl.feeds on feeds.chain_id = chains.chain_id and operation = 'user-operations'
    left join etl.lane_totals on lane_totals.feed = feeds.feed
    group by chains.chain_id
  ) as size, generate_series(0, (16 ^ digits)::int - 1) as part;
end;
--> statement-breakpoint
create function etl.stale_sender_sums(since timestamptz) returns table (chain_id bigint, key text)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select distinct chain_id, address_hash::text
  from explorer.user_operations
  where updated_at >= since and address_hash is not null;
  -- Those whose time is that of a block that is told now, or told otherwise.
  return query
  with fresh as materialized (
    select chain_id, height from explorer.blocks where updated_at >= since
  )
  select distinct op.chain_id, address_hash::text
  from explorer.user_operations as op
  join fresh on fresh.chain_id = op.chain_id and height = block_number
  where op.timestamp is null and address_hash is not null;
  -- And those whose time is that of a sibling.
  return query
  with fresh as materialized (
    select distinct chain_id, block_number
    from explorer.user_operations
    where updated_at >= since and timestamp is not null
  )
  select distinct op.chain_id, address_hash::text
  from explorer.user_operations as op
  join fresh on fresh.chain_id = op.chain_id and fresh.block_number = op.block_number
  where op.timestamp is null and address_hash is not null;
end
$$;
--> statement-breakpoint
create function etl.sum_sender_sums(of_chain bigint, keys text[]) returns void
language plpgsql as $$
declare
  beginning text;
begin
  foreach beginning in array keys loop
    delete from etl.sender_sums
    where chain_id = of_chain and address_hash >= beginning and address_hash < beginning || 'g';
    insert into etl.sender_sums (
      chain_id, address_hash, first_operation_at, last_operation_at, operations, failed, fees
    )
    with sent as materialized (
      select address_hash, timestamp, block_number, status, fee
      from explorer.user_operations
      where chain_id = of_chain and removed_at is null
        and address_hash >= beginning and address_hash < beginning || 'g'
    ), timed as (
      select address_hash, status, fee,
             coalesce(timestamp, (
               select told.timestamp from explorer.time_of_block(of_chain, block_number) as told
             )) as at
      from sent
    )
    select of_chain, address_hash, min(at), max(at), count(*), count(*) filter (where not status), sum(fee)
    from timed
    group by address_hash;
  end loop;
end
$$;
--> statement-breakpoint
create view explorer.senders as
select sums.chain_id, address_hash, coalesce(addresses.name, ens_domain_name) as name,
       first_operation_at, last_operation_at, operations, failed,
       fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.sender_sums as sums
left join explorer.chains on chains.chain_id = sums.chain_id
left join explorer.addresses on addresses.chain_id = sums.chain_id and addresses.hash = address_hash;
--> statement-breakpoint
comment on view explorer.senders is 'Each address that has sent user operations, with their sums. Summed up once a minute, or less often where that costs much: explorer.refreshed says up to when.';
comment on column explorer.senders.chain_id is 'Number of the chain.';
comment on column explorer.senders.address_hash is 'The sender, a smart account: explorer.addresses.hash.';
comment on column explorer.senders.name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.senders.first_operation_at is 'Time of its first operation, UTC. Null: no time is known.';
comment on column explorer.senders.last_operation_at is 'Time of its last operation, UTC. Null: no time is known.';
comment on column explorer.senders.operations is 'Its operations that are in their list.';
comment on column explorer.senders.failed is 'Those of them that failed.';
comment on column explorer.senders.fee_native is 'Their fees, in the chain''s own currency, exact: native_symbol names it. Null: no fee is reported.';
comment on column explorer.senders.native_symbol is 'Symbol of that currency. Null: not known.';
--> statement-breakpoint
create function etl.all_block_days() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select chain_id, day::text from explorer.chains, etl.days_of_blocks() as day
  union
  select chain_id, day::text from etl.block_days;
end;
--> statement-breakpoint
create function etl.stale_block_days(since timestamptz) returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select distinct chain_id, (etl.utc_day(timestamp) + shift)::text
  from (
    select distinct chain_id, timestamp, first_seen_at < updated_at as has_changed
    from explorer.blocks
    where updated_at >= since and timestamp is not null
  ) as written, generate_series(-1, 1) as shift
  where shift = 0 or has_changed;
end;
--> statement-breakpoint
create function etl.sum_block_days(of_chain bigint, keys text[]) returns void
language plpgsql as $$
declare
  of_day date;
begin
  delete from etl.block_days where chain_id = of_chain and day = any(keys::date[]);
  foreach of_day in array keys::date[] loop
    insert into etl.block_days (
      chain_id, day, blocks, transactions, gas_used, gas_limit, burnt_fees, transaction_fees
    )
    select chain_id, of_day, count(*), sum(transactions_count), sum(gas_used), sum(gas_limit),
           sum(burnt_fees), sum(transaction_fees)
    from explorer.blocks
    where chain_id = of_chain
      and timestamp >= etl.start_of_day(of_day) and timestamp < etl.start_of_day(of_day + 1)
    group by chain_id;
  end loop;
end
$$;
--> statement-breakpoint
create view explorer.chain_daily as
select chain_id, day, blocks, transactions, gas_used,
       (100 * gas_used / nullif(gas_limit, 0))::double precision as fill_percent,
       burnt_fees * ('1e-' || native_decimals)::numeric as burnt_native,
       transaction_fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.block_days
left join explorer.chains using (chain_id);
--> statement-breakpoint
comment on view explorer.chain_daily is 'Blocks of each chain and UTC day, of those that are copied: the blocks of the batches that are asked for. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.chain_daily.chain_id is 'Number of the chain.';
comment on column explorer.chain_daily.day is 'The day, UTC.';
comment on column explorer.chain_daily.blocks is 'Blocks of that day.';
comment on column explorer.chain_daily.transactions is 'Their transactions. Null: not told.';
comment on column explorer.chain_daily.gas_used is 'Gas that they used. Null: not told.';
comment on column explorer.chain_daily.fill_percent is 'Gas that they used, as a percentage of their gas limits. Null: not told.';
comment on column explorer.chain_daily.burnt_native is 'Fees that were burnt, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.chain_daily.fee_native is 'Fees of their transactions, in the same currency, exact. Null: none is reported.';
comment on column explorer.chain_daily.native_symbol is 'Symbol of that currency. Null: not known.';
--> statement-breakpoint
create function etl.all_batch_sums() returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select chain_id, batch_number::text from explorer.read_batches
  union
  select chain_id, batch_number::text from etl.batch_sums
  union
  -- Also of a batch that no walk has come to the end of.
  select chain_id, optimism_batch_number::text from explorer.blocks where optimism_batch_number is not null;
end;
--> statement-breakpoint
create function etl.stale_batch_sums(since timestamptz) returns table (chain_id bigint, key text)
language sql stable
begin atomic
  select distinct chain_id, optimism_batch_number::text
  from explorer.blocks
  where updated_at >= since and optimism_batch_number is not null
  union
  -- Its row changes when a block leaves a batch.
  select chain_id, batch_number::text from explorer.read_batches where updated_at >= since;
end;
--> statement-breakpoint
create function etl.sum_batch_sums(of_chain bigint, keys text[]) returns void
language plpgsql as $$
begin
  delete from etl.batch_sums where chain_id = of_chain and batch_number = any(keys::bigint[]);
  insert into etl.batch_sums (
    chain_id, batch_number, first_at, last_at, blocks, transactions, size, gas_used, gas_limit,
    burnt_fees, transaction_fees
  )
  select chain_id, optimism_batch_number, min(timestamp), max(timestamp), count(*),
         sum(transactions_count), sum(size), sum(gas_used), sum(gas_limit), sum(burnt_fees),
         sum(transaction_fees)
  from explorer.blocks
  where chain_id = of_chain and optimism_batch_number = any(keys::bigint[])
  group by chain_id, optimism_batch_number;
end
$$;
--> statement-breakpoint
create view explorer.batch_stats as
select sums.chain_id, sums.batch_number, first_at, last_at, sums.blocks,
       extract(epoch from last_at - first_at)::double precision / nullif(sums.blocks - 1, 0) as block_seconds,
       sums.transactions, sums.size as size_bytes, sums.gas_used,
       (100 * sums.gas_used / nullif(sums.gas_limit, 0))::double precision as fill_percent,
       sums.burnt_fees * ('1e-' || native_decimals)::numeric as burnt_native,
       sums.transaction_fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol,
       listed.l1_timestamp, listed.l1_timestamp - last_at as l1_delay
from etl.batch_sums as sums
left join explorer.chains on chains.chain_id = sums.chain_id
left join explorer.listed_batches as listed
  on listed.chain_id = sums.chain_id and listed.batch_number = sums.batch_number;
--> statement-breakpoint
comment on view explorer.batch_stats is 'What the blocks of each Optimism batch come to. Summed up once a minute: explorer.refreshed says up to when. Whether all of them are there: explorer.optimism_batches.state.';
comment on column explorer.batch_stats.chain_id is 'Number of the chain.';
comment on column explorer.batch_stats.batch_number is 'Number of the batch.';
comment on column explorer.batch_stats.first_at is 'Time of its first block, UTC. Null: not told.';
comment on column explorer.batch_stats.last_at is 'Time of its last block, UTC. Null: not told.';
comment on column explorer.batch_stats.blocks is 'Its blocks.';
comment on column explorer.batch_stats.block_seconds is 'Seconds from one block to the next, on average. Null: it has one block, or times are not told.';
comment on column explorer.batch_stats.transactions is 'Transactions of its blocks. Null: not told.';
comment on column explorer.batch_stats.size_bytes is 'Size of its blocks, in bytes. Null: not told.';
comment on column explorer.batch_stats.gas_used is 'Gas that its blocks used. Null: not told.';
comment on column explorer.batch_stats.fill_percent is 'Gas that its blocks used, as a percentage of their gas limits. Null: not told.';
comment on column explorer.batch_stats.burnt_native is 'Fees that were burnt in its blocks, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.batch_stats.fee_native is 'Fees of the transactions in its blocks, in the same currency, exact. Null: none is reported.';
comment on column explorer.batch_stats.native_symbol is 'Symbol of that currency. Null: not known.';
comment on column explorer.batch_stats.l1_timestamp is 'When it was posted to L1, UTC. Null: the list of batches (optimism-batches) is not copied, or does not tell.';
comment on column explorer.batch_stats.l1_delay is 'From its last block to L1. Null: one of the two times is not known.';
--> statement-breakpoint
create view explorer.refreshed as
select case name when 'operation_days' then 'operations_daily'
                 when 'sender_sums' then 'senders'
                 when 'block_days' then 'chain_daily'
                 when 'batch_sums' then 'batch_stats' end as name,
       read_to as up_to,
       (select count(*) from etl.stale_sums where stale_sums.name = rollups.name) as stale
from etl.rollups;
--> statement-breakpoint
comment on view explorer.refreshed is 'The views that are summed up beforehand, and up to when they are.';
comment on column explorer.refreshed.name is 'Name of the view.';
comment on column explorer.refreshed.up_to is 'What was written before it is in the view, but for what stale counts. Null: nothing was summed up yet.';
comment on column explorer.refreshed.stale is 'How many rows of the view, or days of it, are to be summed up again.';
--> statement-breakpoint
create view explorer.factory_daily as
select daily.chain_id, daily.address_hash, coalesce(name, ens_domain_name) as name,
       day::date, total_accounts, case when day = from_day then new_accounts else 0 end as new_accounts
from (
  select history.chain_id, history.address_hash, history.total_accounts, from_day,
         history.total_accounts - lag(history.total_accounts) over factory as new_accounts,
         -- The last one counts up to today, or until the factory left.
         coalesce(lead(from_day) over factory - 1, etl.utc_day(coalesce(missing_since, now()))) as to_day
  from (
    -- Of two on one day the later one counts.
    select distinct on (chain_id, address_hash, etl.utc_day(observed_at))
           chain_id, address_hash, etl.utc_day(observed_at) as from_day, total_accounts
    from explorer.factory_history
    order by chain_id, address_hash, etl.utc_day(observed_at), observed_at desc
  ) as history
  join explorer.factories using (chain_id, address_hash)
  window factory as (partition by history.chain_id, history.address_hash order by from_day)
) as daily
cross join lateral generate_series(from_day::timestamp, to_day::timestamp, interval '1 day') as day
left join explorer.addresses
  on addresses.chain_id = daily.chain_id and addresses.hash = daily.address_hash;
--> statement-breakpoint
comment on view explorer.factory_daily is 'Accounts of each wallet factory at the end of each UTC day, from the first day on which it was seen to today, or to the day on which it left the list. A day on which nothing was observed has the count of the day before.';
comment on column explorer.factory_daily.chain_id is 'Number of the chain.';
comment on column explorer.factory_daily.address_hash is 'The factory: explorer.addresses.hash.';
comment on column explorer.factory_daily.name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.factory_daily.day is 'The day, UTC.';
comment on column explorer.factory_daily.total_accounts is 'Accounts that it had created by then. Null: not told.';
comment on column explorer.factory_daily.new_accounts is 'Accounts since the day before. Null: its first day, or not told.';
--> statement-breakpoint
create view explorer.provenance as
select pages.id as page_id, walks.chain_id, walks.operation, walks.feed, walks.lane, pages.walk_id,
       pages.sequence, pages.cursor_in, pages.cursor_out, walks.scope, pages.fetched_at, pages.items,
       walks.started_at as walk_started_at
from etl.pages
join etl.walks on walks.id = walk_id;
--> statement-breakpoint
comment on view explorer.provenance is 'Why a row is there: the page that its page_id names. An answer of the explorer, and the request that brought it.';
comment on column explorer.provenance.page_id is 'Number of the page: page_id of the rows that it last changed.';
comment on column explorer.provenance.chain_id is 'Number of the chain.';
comment on column explorer.provenance.operation is 'Name of the operation.';
comment on column explorer.provenance.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.provenance.lane is 'live: what is new. backfill: history.';
comment on column explorer.provenance.walk_id is 'The walk that it belongs to: one pass along the pages of a list.';
comment on column explorer.provenance.sequence is 'Its place in the walk, from 1.';
comment on column explorer.provenance.cursor_in is 'Cursor with which it was asked for. Null: the first page of the list.';
comment on column explorer.provenance.cursor_out is 'Cursor of the next page, as it was told. Null: it was the last.';
comment on column explorer.provenance.scope is 'What the walk was to read, such as {"batch": 6}.';
comment on column explorer.provenance.fetched_at is 'When it was answered, by the database''s clock.';
comment on column explorer.provenance.items is 'Items that it held.';
comment on column explorer.provenance.walk_started_at is 'When its walk began.';
--> statement-breakpoint
create view explorer.coverage as
select chain_id, operation, feed, from_block, to_block, as_of, newest_as_of, unit,
       (
         select timestamp from etl.item_above(chain_id, operation, from_block) where height <= to_block
       ) as from_at,
       (
         select timestamp from etl.item_below(chain_id, operation, to_block, 'infinity')
         where height >= from_block
       ) as to_at
from etl.proved_ranges
union all
select feeds.chain_id, operation, feed, from_batch, to_batch, as_of, newest_as_of, 'batches',
       (
         select min(timestamp) from explorer.blocks
         where blocks.chain_id = feeds.chain_id and optimism_batch_number = (
           select min(batch_number) from explorer.read_batches as batch
           where batch.chain_id = feeds.chain_id and blocks_count > 0 and batch_number >= from_batch
         )
       ),
       (
         select max(timestamp) from explorer.blocks
         where blocks.chain_id = feeds.chain_id and optimism_batch_number = (
           select max(batch_number) from explorer.read_batches as batch
           where batch.chain_id = feeds.chain_id and blocks_count > 0 and batch_number <= to_batch
         )
       )
from etl.feeds
left join etl.quarantined using (feed), lateral (
  select min(batch_number) as from_batch, max(batch_number) as to_batch,
         min(walked_at) as as_of, max(walked_at) as newest_as_of
  from (
    select batch_number, walked_at, batch_number - row_number() over (order by batch_number) as island
    from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and is_proved
      and not batch_number <@ coalesce(places, '{}')
  ) as proved
  group by island
) as proved
where kind = 'numbered'
union all
select feeds.chain_id, operation, feed, null, null, as_of, as_of, 'ranking', null, null
from etl.feeds, lateral (
  select max(as_of) as as_of from etl.rankings where rankings.chain_id = feeds.chain_id
) as ranking
where kind = 'ranked' and as_of is not null
  and not exists (select from etl.quarantined where quarantined.feed = feeds.feed);
--> statement-breakpoint
comment on view explorer.coverage is 'What is complete, as of a time: nothing is missing there that the explorer listed then. One row for each range of blocks or batches (see unit), and one for a whole ranking. What an item in quarantine can stand in is left out: blocks, a batch, a whole ranking. One that a person dropped from there is told of by explorer-etl verify.';
comment on column explorer.coverage.chain_id is 'Number of the chain.';
comment on column explorer.coverage.operation is 'Name of the operation.';
comment on column explorer.coverage.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.coverage.from_block is 'First block, or batch, of the range. Null: a ranking, which is complete or not.';
comment on column explorer.coverage.to_block is 'Last block, or batch, of the range. Null: a ranking.';
comment on column explorer.coverage.as_of is 'When the oldest of the walks that prove it began; of batches when it ended.';
comment on column explorer.coverage.newest_as_of is 'The same of the newest of them.';
comment on column explorer.coverage.unit is 'What the range counts: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.coverage.from_at is 'Time of the first item in it, UTC. Null: there is none, or it tells none.';
comment on column explorer.coverage.to_at is 'Time of the last item in it, UTC. Null: there is none, or it tells none.';
--> statement-breakpoint
create view explorer.gaps as
select chain_id, operation, feed, lower(gap) as from_block, upper(gap) - 1 as to_block, unit,
       (select timestamp from etl.item_below(chain_id, operation, lower(gap) - 1, 'infinity')) as from_at,
       (select timestamp from etl.item_above(chain_id, operation, upper(gap))) as to_at
from etl.feed_gaps
join etl.feeds using (feed)
union all
select chain_id, operation, feed, lower(gap), upper(gap) - 1, 'batches',
       (
         select max(timestamp) from explorer.blocks
         where blocks.chain_id = asked.chain_id and height = (
           select last_height from explorer.read_batches as batch
           where batch.chain_id = asked.chain_id and blocks_count > 0 and batch_number < lower(gap)
           order by batch_number desc limit 1
         )
       ),
       (
         select min(timestamp) from explorer.blocks
         where blocks.chain_id = asked.chain_id and height = (
           select first_height from explorer.read_batches as batch
           where batch.chain_id = asked.chain_id and blocks_count > 0 and batch_number >= upper(gap)
           order by batch_number limit 1
         )
       )
from (
  select chain_id, operation, feed, range_agg(missing) as missing
  from (
    select asked.chain_id, operation, feed,
           -- Above the highest settled one they wait for the next batch, and nothing is missing.
           int8multirange(int8range(lower(numbers), coalesce(settled_to + 1, upper(numbers)))) - coalesce((
             select range_agg(int8range(batch_number, batch_number + 1))
             from explorer.read_batches as batch
             where batch.chain_id = asked.chain_id and is_proved
           ), '{}') as missing
    from etl.asked_batches as asked
    join etl.feeds using (feed)
    union all
    select listed.chain_id, operation, feed, int8multirange(range)
    from etl.listed_without_blocks as listed
    join etl.feeds using (feed)
  ) as part
  group by chain_id, operation, feed
) as asked, unnest(missing) as gap
union all
select chain_id, operation, feed, null, null, 'ranking', null, null
from etl.feeds
where kind = 'ranked' and not exists (
  select from etl.rankings where rankings.chain_id = feeds.chain_id
);
--> statement-breakpoint
comment on view explorer.gaps is 'What is wanted and not proved complete: a row for each range of blocks or batches (see unit), and one for a ranking that was never read. Those of items in quarantine are neither here nor in coverage: no walk closes them.';
comment on column explorer.gaps.chain_id is 'Number of the chain.';
comment on column explorer.gaps.operation is 'Name of the operation.';
comment on column explorer.gaps.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.gaps.from_block is 'First block, or batch, of the gap. Null: a ranking.';
comment on column explorer.gaps.to_block is 'Last block, or batch, of the gap. Null: a ranking.';
comment on column explorer.gaps.unit is 'What the range counts: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.gaps.from_at is 'Time of the nearest item below it, UTC: the gap begins after it. Null: nothing is stored there.';
comment on column explorer.gaps.to_at is 'Time of the nearest item above it, UTC: the gap ends before it. Null: nothing is stored there.';
--> statement-breakpoint
create view explorer.freshness as
select feeds.chain_id, feeds.operation, feeds.feed,
       newest.height as newest_block,
       newest.timestamp as newest_at,
       now() - newest.timestamp as lag,
       feeds.last_success_at,
       case kind when 'numbered' then settled.settled_to
                 else (
                   select max(upper(range)) - 1 from etl.covered_ranges
                   where covered_ranges.feed = feeds.feed
                 ) end as covered_to,
       case kind when 'ranked' then 'ranking' when 'numbered' then 'batches' else unit end as unit,
       coalesce(polled.at, read_first.at) as looked_at,
       make_interval(secs => (settings ->> 'freshness')::float8 / 1000) as objective,
       case when settings ->> 'freshness' is not null then coalesce(
         now() - coalesce(polled.at, read_first.at) <= make_interval(secs => (settings ->> 'freshness')::float8 / 1000), false
       ) end as is_fresh
from etl.feeds
-- A ranking is read whole each time, by the lane of history.
cross join lateral (select case kind when 'ranked' then 'backfill' else 'live' end as lane) as own
left join lateral (
  select max(settled_to) as settled_to from etl.asked_batches where asked_batches.feed = feeds.feed
) as settled on true
left join lateral (
  select opened_at as at from etl.runs
  where state = 'finished' and (feed, lane, id) <= (feeds.feed, own.lane, 9223372036854775807)
    and (feed, lane, id) >= (feeds.feed, own.lane, 0)
  order by feed desc, lane desc, id desc
  limit 1
) as polled on true
left join lateral (
  -- The first reading of a history begins at the head, and then nothing is left to poll.
  select min(opened_at) as at from etl.runs
  where polled.at is null and runs.feed = feeds.feed and state = 'finished'
) as read_first on true
left join lateral (
  select height, timestamp from etl.newest_item(feeds.chain_id, feeds.operation)
  where kind = 'newest-first'
  union all
  select batch_number, (
    select timestamp from explorer.blocks
    where blocks.chain_id = feeds.chain_id and height = last_height
  )
  from (
    select batch_number, last_height from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and blocks_count > 0
    order by batch_number desc
    limit 1
  ) as newest_batch
  where kind = 'numbered'
  union all
  select null, max(as_of) from etl.rankings where kind = 'ranked' and rankings.chain_id = feeds.chain_id
) as newest on newest.height is not null or newest.timestamp is not null;
--> statement-breakpoint
comment on view explorer.freshness is 'How current each feed is.';
comment on column explorer.freshness.chain_id is 'Number of the chain.';
comment on column explorer.freshness.operation is 'Name of the operation.';
comment on column explorer.freshness.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.freshness.newest_block is 'Block, or batch, of the newest item. Null: there is none, or the list is a ranking.';
comment on column explorer.freshness.newest_at is 'Time of that item, UTC, or of the next one if its neighbours contradict it; of a ranking when it was read. Null: not told.';
comment on column explorer.freshness.lag is 'How long ago that was. A chain on which nothing happens lags behind though all of it is there: see looked_at.';
comment on column explorer.freshness.last_success_at is 'When a run of the feed last finished. Null: never.';
comment on column explorer.freshness.covered_to is 'Highest block that is proved complete, or highest batch that is settled. Null: none, or the list is a ranking.';
comment on column explorer.freshness.unit is 'What newest_block and covered_to count: blocks, or batches. ranking: a list that is read whole each time.';
comment on column explorer.freshness.looked_at is 'When the last run began that went to the head of the list and finished: what the explorer listed then is stored. Null: none has.';
comment on column explorer.freshness.objective is 'How long ago looked_at may be, as configured for the feed (freshness). Null: nothing is configured.';
comment on column explorer.freshness.is_fresh is 'Whether the objective holds now. Null: there is none.';
--> statement-breakpoint
create view explorer.quarantine as
select chain_id, operation, feed, reason, from_block, to_block, first_seen_at, dropped_at, page_id
from etl.quarantine;
--> statement-breakpoint
comment on view explorer.quarantine is 'Items that could not become rows, without the items: explorer-etl quarantine list shows them.';
comment on column explorer.quarantine.chain_id is 'Number of the chain.';
comment on column explorer.quarantine.operation is 'Name of the operation whose list it is.';
comment on column explorer.quarantine.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.quarantine.reason is 'The fields that are wrong, and what was expected of them.';
comment on column explorer.quarantine.from_block is 'Lowest block that the item can stand in. Null: not known.';
comment on column explorer.quarantine.to_block is 'Highest block that the item can stand in. Null: not known.';
comment on column explorer.quarantine.first_seen_at is 'When it was first stored.';
comment on column explorer.quarantine.dropped_at is 'When a person dropped it. Null: it waits.';
comment on column explorer.quarantine.page_id is 'Page that first showed it: explorer.provenance.page_id.';
--> statement-breakpoint
create view explorer.credits as
select credits_day as day, credits_spent as spent, credits_remaining as remaining,
       daily_credits as daily_limit, requests_per_second, requests, paused_until, pause_class
from etl.budget;
--> statement-breakpoint
comment on view explorer.credits is 'What each API key has spent on the day on which it was last used; a row for each key, which is not told.';
comment on column explorer.credits.day is 'The day, UTC. Null: the key was not used yet.';
comment on column explorer.credits.spent is 'Credits spent on that day, 20 for each request.';
comment on column explorer.credits.remaining is 'Credits left, as the service said last. Null: not said.';
comment on column explorer.credits.daily_limit is 'Credits that may be spent in a day, as configured. Null: no limit of ours.';
comment on column explorer.credits.requests_per_second is 'Rate of the key, as configured.';
comment on column explorer.credits.requests is 'Requests so far, failed ones and repeats included.';
comment on column explorer.credits.paused_until is 'Until when no request of the key may leave. Null or past: no pause.';
comment on column explorer.credits.pause_class is 'What paused it: throttled, out-of-credits, unauthorized or key-missing. Null: nothing has.';
--> statement-breakpoint
create view etl.table_questions as
select * from (values
  ('address_implementations', array['Which addresses share an implementation?', 'How many proxies have more than one?']),
  ('address_labels', array['Which addresses have a public label?', 'Which labels do the largest senders have?']),
  ('address_metadata_tags', array['Which addresses are tagged as a protocol?', 'Which tag has the greatest weight of each address?']),
  ('address_watchlist_names', array['Which addresses does the owner of the key watch?', 'Which of them sent operations?']),
  ('addresses', array['Which senders are verified contracts?', 'Which kinds of proxies are there, and how many of each?']),
  ('batch_stats', array['How long do batches take to reach L1?', 'Which batches were fullest?']),
  ('block_arbitrum', array['How many blocks of a batch are confirmed on L1?', 'Which blocks brought delayed messages?']),
  ('block_reorgs', array['Which blocks were replaced, and when was that seen?', 'How many blocks a day were replaced?']),
  ('block_rewards', array['Who was rewarded for blocks, and how much?', 'Which types of rewards are there?']),
  ('block_uncles', array['How many uncles do blocks have?', 'Which block names an uncle?']),
  ('blocks', array['How much gas did blocks use in the last hour?', 'Which block was the largest of a batch?']),
  ('broken_borders', array['Between which batches does the chain not meet?', 'Is that because one of them is older?']),
  ('chain_daily', array['How many blocks and transactions were there each day?', 'How much was burnt each week?']),
  ('chains', array['Which chains are copied?', 'In which currency does each chain count fees?']),
  ('coverage', array['What is complete of a list, and as of when?', 'Back to which day can a chart be trusted?']),
  ('credits', array['What was spent today?', 'Is a key paused, and why?']),
  ('dictionary', array['Which columns hold wei?', 'What does a column mean when it is null?']),
  ('factories', array['Which factories created most accounts?', 'Which factories have left the list?']),
  ('factory_daily', array['How did the accounts of a factory grow?', 'Which factory grew most in a week?']),
  ('factory_history', array['When did the count of a factory change?', 'When was a factory first seen?']),
  ('freshness', array['How current is each list?', 'Which lists miss their objective now?']),
  ('gaps', array['What is missing, and between which times?', 'Which lists were never read?']),
  ('late_arrivals', array['Which operations appeared late, and how late?', 'On which days was the explorer behind?']),
  ('listed_batches', array['When was a batch posted to L1?', 'Which batches are in blobs?']),
  ('operations_daily', array['How many operations were there each day, and how many failed?', 'How fast does one version of the entry point replace another?']),
  ('operations_enriched', array['Which operations cost most yesterday?', 'Which entry points does a sender use?']),
  ('optimism_batch_l1_transactions', array['Which L1 transactions posted a batch?', 'Which batches needed more than one?']),
  ('optimism_batches', array['Which batches are not settled yet, and why?', 'How far behind L1 are the blocks of a batch?']),
  ('provenance', array['Why is this row here?', 'Which request brought it, and when?']),
  ('quarantine', array['What could not become rows, and why?', 'Which blocks lack an item?']),
  ('read_batches', array['Which batches are proved whole?', 'Which batches are empty?']),
  ('refreshed', array['Up to when are the daily tables?', 'Is there more to sum up?']),
  ('senders', array['Who sends most operations?', 'How many senders were new this week?']),
  ('suggested_overlap', array['How far back should each poll look?', 'How late do operations arrive?']),
  ('suggested_resweeps', array['Which deeper polls would have caught late arrivals?', 'What would they cost?']),
  ('user_operations', array['What happened in a transaction?', 'Which operations left the list?'])
) as asked (table_name, questions);
--> statement-breakpoint
comment on view etl.table_questions is 'Two questions that each table or view of schema explorer answers.';
--> statement-breakpoint
create view explorer.dictionary as
select relname::text as table_name,
       case when relkind = 'v' then 'view' else 'table' end as kind,
       attname::text as column_name, attnum::int as position,
       replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') as type,
       case when attname like '%\_native' then 'native_symbol'
            when attname ~ '_percent(age)?$' then 'percent'
            when attname like '%\_seconds' then 'seconds'
            when attname ~ '^size' then 'bytes'
            when attname ~ '^gas_(used|limit)$' then 'gas'
            when atttypid = 'timestamptz'::regtype then 'UTC'
            when atttypid = 'date'::regtype then 'UTC day'
            when described.text ~ '\ywei\y' then 'wei' end as unit,
       substring(described.text from 'API fields? ([^;.]*(?:\.[a-z_\[]+[^;.]*)*)') as source,
       attnum = any (own_key.columns) as is_key,
       case when relkind = 'v' then described.text ~ '\yNull: ' else not attnotnull end as is_nullable,
       substring(described.text from '\yNull: (.*)$') as null_means,
       described.text as description,
       null::text[] as questions
from pg_class
join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
cross join lateral (select col_description(pg_class.oid, attnum) as text) as described
left join lateral (
  select conkey as columns from pg_constraint where conrelid = pg_class.oid and contype = 'p'
) as own_key on true
where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
union all
select relname::text, case when relkind = 'v' then 'view' else 'table' end, null, 0, null, null,
       substring(obj_description(pg_class.oid, 'pg_class') from 'Source: ([^.]*(?:\.[a-z_\[]+[^.]*)*)'),
       null, null, null, obj_description(pg_class.oid, 'pg_class'), asked.questions
from pg_class
left join etl.table_questions as asked on asked.table_name = relname
where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition;
--> statement-breakpoint
comment on view explorer.dictionary is 'What each table, view and column of this schema means: a row for each column, and one for each table, whose column_name is null. Made from the comments.';
comment on column explorer.dictionary.table_name is 'Name of the table or view.';
comment on column explorer.dictionary.kind is 'table or view.';
comment on column explorer.dictionary.column_name is 'Name of the column. Null: the row is about the table.';
comment on column explorer.dictionary.position is 'Place of the column, from 1; 0 is the table.';
comment on column explorer.dictionary.type is 'Type of the column. Null: the row is about the table.';
comment on column explorer.dictionary.unit is 'What it is counted in: wei, gas, bytes, seconds, percent, UTC; native_symbol: the currency that the column native_symbol names. Null: nothing of that kind.';
comment on column explorer.dictionary.source is 'Where the value comes from: a field of the API, with older names. Null: from the program, or the comment says it in other words.';
comment on column explorer.dictionary.is_key is 'Whether it is part of the primary key. Null: it is not, or a view has no key.';
comment on column explorer.dictionary.is_nullable is 'Whether it may be null. Null: the row is about the table.';
comment on column explorer.dictionary.null_means is 'What it means where it is null. Null: it is never null, or nothing is said.';
comment on column explorer.dictionary.description is 'The comment.';
comment on column explorer.dictionary.questions is 'Two questions that the table answers. Null: the row is about a column.';
--> statement-breakpoint
-- Relations for tools that read them from the catalog. Where they can't be had for nothing there are none: a
-- key that is enforced would cost each row a lookup, and order what is written.
do $$
declare
  relation record;
begin
  if current_setting('server_version_num')::int < 180000 then
    return;
  end if;
  for relation in
    select * from (values
      ('user_operations', 'address_hash', 'addresses', 'hash'),
      ('user_operations', 'entry_point_hash', 'addresses', 'hash'),
      ('blocks', 'miner_hash', 'addresses', 'hash'),
      ('blocks', 'optimism_batch_number', 'read_batches', 'batch_number'),
      ('block_rewards', 'address_hash', 'addresses', 'hash'),
      ('factories', 'address_hash', 'addresses', 'hash'),
      ('listed_batches', 'batch_number', 'read_batches', 'batch_number'),
      ('user_operations', null, 'chains', null),
      ('blocks', null, 'chains', null),
      ('factories', null, 'chains', null),
      ('listed_batches', null, 'chains', null),
      ('read_batches', null, 'chains', null),
      ('addresses', null, 'chains', null)
    ) as told (table_name, column_name, other, other_column)
  loop
    execute format(
      'alter table explorer.%I add constraint %I foreign key (%s) references explorer.%I (%s) not enforced',
      relation.table_name, concat_ws('_', relation.table_name, coalesce(relation.column_name, 'chain')),
      concat_ws(', ', 'chain_id', relation.column_name),
      relation.other, concat_ws(', ', 'chain_id', relation.other_column)
    );
  end loop;
end
$$;
