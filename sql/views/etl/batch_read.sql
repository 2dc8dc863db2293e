create or replace function etl.batch_read(
  of_chain bigint, of_operation text, number bigint
) returns table (wants text, entry jsonb, known json)
language sql stable
begin atomic
  select wants, (
    select page.cursor_in
    from etl.walks as walk
    join etl.pages as page on page.walk_id = walk.id
    where walk.batch = number
      and walk.feed = of_chain || '/' || of_operation
      and walk.state = 'finished'
      and walk.reason is null
      and page.rows > 0
    order by walk.id desc, page.sequence desc
    limit 1
  ), (
    select json_build_object('height', block.height, 'hash', block.hash)
    from etl.batch_blocks as block
    where block.chain_id = of_chain
      and block.operation = of_operation
      and block.batch_number = number
      and block.height = coalesce(
        (
          select min(pending.height) - 1 from etl.batch_blocks as pending
          where pending.chain_id = of_chain
            and pending.operation = of_operation
            and pending.batch_number = number
            and is_pending_update
        ),
        standing.last_height
      )
  )
  from etl.batch_standing as standing
  where chain_id = of_chain and operation = of_operation and batch_number = number;
end;

comment on function etl.batch_read is 'How a batch is read again: what of it a walk is to read; the cursor of the last page with blocks of the newest walk to its end (null: the first page); and the block at which a walk may end, which is its highest, or the one below the lowest that awaits an update.';
