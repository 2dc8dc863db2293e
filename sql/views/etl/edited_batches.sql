create or replace function etl.note_block_edits() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  facts text := format('chain_id, %I as batch_number, height, hash, parent_hash, is_pending_update', tg_argv[1]);
  changed text := case tg_op
    -- Each walk inserts blocks; only those of a verified batch contradict it.
    when 'INSERT' then format(
      'select chain_id, batch_number
       from (select distinct chain_id, %I as batch_number from new_rows) as block, lateral (
         select from etl.batch_states as batch
         where batch.chain_id = block.chain_id and operation = $1
           and batch.batch_number = block.batch_number and is_verified
         -- By the key: a join would read all batches.
         offset 0
       ) as verified', tg_argv[1]
    )
    when 'DELETE' then format('select %s from old_rows', facts)
    else format(
      '(select %1$s from old_rows except select %1$s from new_rows)
       union (select %1$s from new_rows except select %1$s from old_rows)', facts
    )
  end;
begin
  execute format(
    'insert into etl.edited_batches (chain_id, operation, batch_number)
     select distinct chain_id, $1, batch_number from (%s) as changed where batch_number is not null', changed
  ) using tg_argv[0];
  return null;
end
$$;

create or replace function etl.note_batch_edit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.is_verified is true then
    insert into etl.edited_batches (chain_id, operation, batch_number)
    values (old.chain_id, tg_argv[0], old.batch_number);
  end if;
  if new.is_verified is true and old.is_verified is not true then
    insert into etl.edited_batches (chain_id, operation, batch_number)
    select chain_id, operation, batch_number
    from etl.block_findings
    where chain_id = new.chain_id and operation = tg_argv[0] and batch_number = new.batch_number;
  end if;
  return null;
end
$$;

create or replace function etl.note_listing_edit() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into etl.edited_batches (chain_id, operation, batch_number)
  select batch.chain_id, batch.operation, batch.batch_number
  from etl.batch_states as batch
  join etl.batch_listings as listed
    on listed.chain_id = batch.chain_id
    and listed.operation = batch.operation
    and listed.batch_number = batch.batch_number
  where batch.chain_id = new.chain_id
    and batch.operation = tg_argv[0]
    and batch.batch_number = (to_jsonb(new) ->> tg_argv[1])::bigint
    and (
      blocks_count = 0
      or (batch.first_height, batch.last_height) <> (listed.first_height, listed.last_height)
    );
  return null;
end
$$;

create or replace function etl.prune_edits() returns void
language sql
begin atomic
  with found as materialized (
    select feed, numbers from etl.doubted_batches()
  )
  delete from etl.edited_batches as edited
  where not exists (
    select from found
    where found.feed = edited.chain_id || '/' || edited.operation and batch_number <@ numbers
  ) and not exists (
    select from etl.batch_coverage as kept
    where kept.feed = edited.chain_id || '/' || edited.operation
      and batch_number <@ kept.read
      and not exists (
        select from etl.batch_states as batch
        where batch.chain_id = edited.chain_id
          and batch.operation = edited.operation
          and batch.batch_number = edited.batch_number
          and (is_verified or not batch.batch_number <@ kept.verified)
      )
  );
end;

comment on function etl.note_block_edits is 'Notes the batches of blocks that left, joined or changed, whatever wrote it: what was verified of them is checked again whenever it is read.';
comment on function etl.note_batch_edit is 'Notes a verified batch whose row was changed or deleted, and one that becomes verified though its blocks are not what its row says.';
comment on function etl.note_listing_edit is 'Notes a batch that was read and is listed with other blocks.';
comment on function etl.prune_edits is 'Deletes the notes of batches that nothing contradicts any more. One that is written meanwhile stays.';
