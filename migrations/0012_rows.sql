create table etl.row_counts (
  chain_id bigint not null,
  table_name text not null,
  first_seen_at timestamp with time zone not null,
  rows bigint not null,
  digests numeric not null,
  first_page_id bigint,
  last_page_id bigint
);
--> statement-breakpoint
create table etl.damage (
  id bigserial primary key,
  found_at timestamp with time zone not null default now(),
  chain_id bigint not null,
  table_name text not null,
  finding text not null,
  key jsonb,
  row jsonb,
  first_seen_at timestamp with time zone,
  rows bigint,
  first_page_id bigint,
  last_page_id bigint
);
--> statement-breakpoint
create table etl.rereads (
  chain_id bigint not null,
  operation text not null,
  after_walk bigint not null,
  blocks int8multirange,
  noted_at timestamp with time zone not null default now(),
  constraint rereads_chain_id_operation_after_walk_pk primary key (chain_id, operation, after_walk)
);
--> statement-breakpoint
alter table explorer.addresses add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.address_implementations add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.address_labels add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.address_metadata_tags add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.address_watchlist_names add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.blocks add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.block_arbitrum add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.block_rewards add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.block_uncles add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.block_reorgs add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.factories add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.factory_history add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.optimism_batches add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.user_operations add column digest bigint, add column digest_before bigint;
--> statement-breakpoint
alter table explorer.chains add column digest bigint;
--> statement-breakpoint
update explorer.addresses
set digest = hash_record_extended(row(
  chain_id, hash, name, ens_domain_name, is_contract, is_scam, is_verified, proxy_type, reputation,
  extra, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.address_implementations
set digest = hash_record_extended(row(
  chain_id, address_hash, position, implementation_hash, name, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.address_labels
set digest = hash_record_extended(row(
  chain_id, address_hash, kind, position, label, display_name, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.address_metadata_tags
set digest = hash_record_extended(row(
  chain_id, address_hash, position, slug, name, tag_type, ordinal, meta, first_seen_at, updated_at,
  page_id
), 0);
--> statement-breakpoint
update explorer.address_watchlist_names
set digest = hash_record_extended(row(
  chain_id, address_hash, position, label, display_name, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.blocks
set digest = hash_record_extended(row(
  chain_id, height, hash, parent_hash, timestamp, type, miner_hash, nonce, size, is_pending_update,
  transactions_count, internal_transactions_count, withdrawals_count, gas_limit, gas_used,
  gas_used_percentage, gas_target_percentage, base_fee_per_gas, burnt_fees, burnt_fees_percentage,
  priority_fee, transaction_fees, difficulty, total_difficulty, optimism_batch_number, extra,
  first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.block_arbitrum
set digest = hash_record_extended(row(
  chain_id, block_height, batch_number, status, batch_data_container, delayed_messages,
  l1_block_number, send_count, send_root, commitment_transaction_hash,
  commitment_transaction_status, commitment_transaction_timestamp, confirmation_transaction_hash,
  confirmation_transaction_status, confirmation_transaction_timestamp, first_seen_at, updated_at,
  page_id
), 0);
--> statement-breakpoint
update explorer.block_rewards
set digest = hash_record_extended(row(
  chain_id, block_height, position, reward, type, address_hash, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.block_uncles
set digest = hash_record_extended(row(
  chain_id, block_height, position, hash, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.block_reorgs
set digest = hash_record_extended(row(
  chain_id, height, old_hash, new_hash, observed_at, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.factories
set digest = hash_record_extended(row(
  chain_id, address_hash, total_accounts, rank, missing_since, extra, first_seen_at, updated_at,
  page_id
), 0);
--> statement-breakpoint
update explorer.factory_history
set digest = hash_record_extended(row(
  chain_id, address_hash, observed_at, total_accounts, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.optimism_batches
set digest = hash_record_extended(row(
  chain_id, batch_number, state, blocks_count, first_height, last_height, is_contiguous, is_linked,
  is_proved, walked_at, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.user_operations
set digest = hash_record_extended(row(
  chain_id, hash, block_number, timestamp, status, address_hash, entry_point_hash,
  entry_point_version, transaction_hash, fee, removed_at, extra, first_seen_at, updated_at, page_id
), 0);
--> statement-breakpoint
update explorer.chains
set digest = hash_record_extended(row(
  chain_id, name
), 0);
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.addresses', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.addresses
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.address_implementations', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.address_implementations
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.address_labels', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.address_labels
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.address_metadata_tags', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.address_metadata_tags
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.address_watchlist_names', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.address_watchlist_names
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.blocks', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.blocks
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.block_arbitrum', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.block_arbitrum
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.block_rewards', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.block_rewards
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.block_uncles', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.block_uncles
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.block_reorgs', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.block_reorgs
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.factories', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.factories
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.factory_history', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.factory_history
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.optimism_batches', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.optimism_batches
group by chain_id, first_seen_at;
--> statement-breakpoint
insert into etl.row_counts (chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id)
select chain_id, 'explorer.user_operations', first_seen_at, count(*), sum(digest), min(page_id), max(page_id)
from explorer.user_operations
group by chain_id, first_seen_at;
--> statement-breakpoint
create or replace function etl.note_reorg() returns trigger
language plpgsql as $$
begin
  with seen as (
    select new.chain_id as chain_id, new.height as height, old.hash as old_hash,
           new.hash as new_hash, now() as observed_at, now() as first_seen_at,
           now() as updated_at, new.page_id as page_id
  ), written as (
    insert into explorer.block_reorgs as t (
      chain_id, height, old_hash, new_hash, observed_at, first_seen_at, updated_at, page_id, digest
    )
    select *, hash_record_extended(row(chain_id, height, old_hash, new_hash, observed_at, first_seen_at, updated_at, page_id), 0)
    from seen
    on conflict do nothing
    returning t.chain_id, t.first_seen_at, t.page_id, t.digest
  )
  insert into etl.row_counts (
    chain_id, table_name, first_seen_at, rows, digests, first_page_id, last_page_id
  )
  select chain_id, 'explorer.block_reorgs', first_seen_at, 1, digest, page_id, page_id
  from written;
  return null;
end
$$;
--> statement-breakpoint
create view etl.open_rereads as
select chain_id, operation, after_walk,
       blocks - coalesce(
         (
           select range_agg(
             case when from_head then int8range(lowest, null)
                  else int8range(least(lowest, top), top) end
           )
           from (
             select from_head, top,
                    case when state = 'finished' and reason is null then 0 else bottom + 1 end as lowest
             from etl.walks
             where walks.chain_id = rereads.chain_id
               and walks.operation = rereads.operation
               and walks.id > after_walk
               and is_ordered
               and top is not null
           ) as later
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
create function etl.blocks_to_reread(chain bigint, list text) returns int8multirange
language sql stable
return coalesce(
  (
    select range_agg(range)
    from etl.open_rereads, unnest(blocks) as range
    where chain_id = chain and operation = list
  ),
  '{}'
);
--> statement-breakpoint
create view etl.reread_findings as
select chain_id, operation,
       'blocks ' || lower(range) || ' to ' || upper(range) - 1
         || ': rows were damaged, and are not read again yet' as finding
from etl.rereads, unnest(etl.blocks_to_reread(chain_id, operation)) as range
group by chain_id, operation, range
union all
select distinct chain_id, operation, 'rows were damaged, and no census was finished since'
from etl.open_rereads
where blocks is null;
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
             then coalesce(blocks, 0) || ' blocks are stored, where ' || blocks_count || ' were read'
           when (lowest, highest) is distinct from (first_height, last_height)
             then 'its blocks are ' || lowest || ' to ' || highest || ', where ' || first_height
               || ' to ' || last_height || ' were read'
           when broken > 0 then broken || ' blocks do not follow on the one below'
           when pending > 0 then pending || ' blocks await an update, though it is proved'
         end as finding
  from explorer.optimism_batches as batch
  left join counted
    on counted.chain_id = batch.chain_id and counted.batch_number = batch.batch_number
  where is_proved
)
select found.chain_id, feeds.operation,
       int8multirange(int8range(batch_number, batch_number + 1)) as numbers,
       'batch ' || batch_number || ': ' || finding as finding
from found
join etl.feeds on feeds.chain_id = found.chain_id and feeds.operation = 'optimism-batch-blocks'
where finding is not null;
--> statement-breakpoint
COMMENT ON TABLE etl.row_counts IS 'How many rows the program has written to each table of schema explorer, by the moment of the transaction that first stored them. Many entries add up: one for each transaction that wrote, changed or deleted some.';
COMMENT ON COLUMN etl.row_counts."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN etl.row_counts."table_name" IS 'The table with its schema.';
COMMENT ON COLUMN etl.row_counts."first_seen_at" IS 'first_seen_at of the rows.';
COMMENT ON COLUMN etl.row_counts."rows" IS 'Rows added, less those deleted.';
COMMENT ON COLUMN etl.row_counts."digests" IS 'The digests of rows as they are now, less those from before.';
COMMENT ON COLUMN etl.row_counts."first_page_id" IS 'Lowest page_id of the rows added. Null: none were.';
COMMENT ON COLUMN etl.row_counts."last_page_id" IS 'Highest page_id of the rows added. Null: none were.';
COMMENT ON TABLE etl.damage IS 'Rows of schema explorer that others than the program deleted, changed or added, as repair --rows found them.';
COMMENT ON COLUMN etl.damage."id" IS 'Number of the entry.';
COMMENT ON COLUMN etl.damage."found_at" IS 'When repair found it.';
COMMENT ON COLUMN etl.damage."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN etl.damage."table_name" IS 'The table with its schema.';
COMMENT ON COLUMN etl.damage."finding" IS 'changed: a row that is not as the program wrote it. count: more or fewer rows of a moment, or others, than the program wrote. gone: an address that other rows name.';
COMMENT ON COLUMN etl.damage."key" IS 'Primary key of the row. Null: the row is gone, and nobody knows it.';
COMMENT ON COLUMN etl.damage."row" IS 'The row as it was found, before repair took it out. Null: it was gone.';
COMMENT ON COLUMN etl.damage."first_seen_at" IS 'first_seen_at of the row or rows.';
COMMENT ON COLUMN etl.damage."rows" IS 'Rows found, less those that should have been there; 0 where others were found. Null: a row that was changed.';
COMMENT ON COLUMN etl.damage."first_page_id" IS 'Lowest etl.pages.id of the pages that brought the rows. Null: not known.';
COMMENT ON COLUMN etl.damage."last_page_id" IS 'Highest of them.';
COMMENT ON TABLE etl.rereads IS 'What is to be read again because rows of it were damaged. Done when walks that began later have read it.';
COMMENT ON COLUMN etl.rereads."chain_id" IS 'Number of the chain.';
COMMENT ON COLUMN etl.rereads."operation" IS 'Name of the operation.';
COMMENT ON COLUMN etl.rereads."after_walk" IS 'Highest etl.walks.id when the damage was noted: only later walks count.';
COMMENT ON COLUMN etl.rereads."blocks" IS 'Blocks of user operations. Null: the whole list, as for a census.';
COMMENT ON COLUMN etl.rereads."noted_at" IS 'When the damage was noted.';
COMMENT ON VIEW etl.open_rereads IS 'What of etl.rereads no later walk has read yet.';
COMMENT ON FUNCTION etl.blocks_to_reread IS 'The blocks of a feed whose rows were damaged and which no later walk has read: nothing proves them.';
COMMENT ON VIEW etl.reread_findings IS 'The same as lines of verify.';
COMMENT ON VIEW etl.block_findings IS 'Proved batches whose blocks, counted and linked again, are not what was read.';
COMMENT ON FUNCTION etl.note_reorg IS 'Records every hash that another one replaces at its height, whatever wrote the block.';
COMMENT ON COLUMN explorer.addresses."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.addresses."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.address_implementations."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.address_implementations."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.address_labels."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.address_labels."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.address_metadata_tags."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.address_metadata_tags."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.address_watchlist_names."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.address_watchlist_names."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.blocks."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.blocks."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.block_arbitrum."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.block_arbitrum."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.block_rewards."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.block_rewards."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.block_uncles."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.block_uncles."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.block_reorgs."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.block_reorgs."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.factories."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.factories."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.factory_history."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.factory_history."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.optimism_batches."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.optimism_batches."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.user_operations."digest" IS 'Postgres'' hash of all other columns but digest_before, as the program wrote them. verify --rows computes it again. Null: the program did not write the row.';
COMMENT ON COLUMN explorer.user_operations."digest_before" IS 'The digest before the last change. Null: there was none.';
COMMENT ON COLUMN explorer.chains."digest" IS 'Postgres'' hash of the other columns, as the program wrote them.';
