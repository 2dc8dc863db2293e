create or replace function etl.batch_end(
  of_chain bigint, of_operation text, number bigint, of_walk bigint, page_lowest bigint, page_parent text
) returns table (
  lowest bigint, stored_below bigint, is_verified boolean, parent_batch bigint, is_below_read boolean
)
language sql stable
begin atomic
  with walked as (
    select least(min(bottom), page_lowest) as lowest from etl.pages where walk_id = of_walk
  ), below as (
    select max(batch_number) as number
    from etl.batch_states
    where chain_id = of_chain and operation = of_operation and blocks_count > 0 and batch_number < batch_end.number
  )
  select walked.lowest,
         (
           select count(*) from etl.batch_blocks as block
           where block.chain_id = of_chain
             and block.operation = of_operation
             and block.batch_number = batch_end.number
             and (walked.lowest is null or height < walked.lowest)
         ),
         exists (
           select from etl.batch_states as batch
           where batch.chain_id = of_chain
             and batch.operation = of_operation
             and batch.batch_number = batch_end.number
             and batch.is_verified
         ),
         (
           select stored.batch_number from etl.batch_blocks as stored
           where stored.chain_id = of_chain
             and stored.operation = of_operation
             and height = walked.lowest - 1
             and hash = case
               when walked.lowest = page_lowest then page_parent
               else (
                 select parent_hash from etl.batch_blocks as block
                 where block.chain_id = of_chain and block.operation = of_operation and height = walked.lowest
               )
             end
         ),
         coalesce(int8range(below.number + 1, batch_end.number) <@ read, false)
  from walked cross join below
  left join etl.covered_batches on feed = of_chain || '/' || of_operation;
end;

comment on function etl.batch_end is 'What is stored around the end of a batch''s list: the lowest block that the walk or its page, which is not stored yet, was served; stored blocks of the batch below that one; the batch of its parent block; and whether the nearest lower batch with blocks and each number above that one were read.';

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
