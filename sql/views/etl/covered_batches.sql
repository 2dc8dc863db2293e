create or replace view etl.covered_batches as
select feeds.feed, coalesce(read, '{}') - coalesce(missing, '{}') as read,
       coalesce(verified, '{}') - coalesce(unverified, '{}') as verified
from etl.feeds
left join etl.batch_coverage using (feed)
left join lateral (
  select range_agg(number) filter (where batch.batch_number is null) as missing,
         range_agg(number) filter (where is_verified is not true) as unverified
  from (
    select distinct chain_id, operation, batch_number, int8range(batch_number, batch_number + 1) as number
    from etl.edited_batches
    where edited_batches.chain_id = feeds.chain_id and edited_batches.operation = feeds.operation
  ) as edited
  left join etl.batch_states as batch
    on batch.chain_id = edited.chain_id
    and batch.operation = edited.operation
    and batch.batch_number = edited.batch_number
) as changed on true
where kind = 'numbered';

comment on view etl.covered_batches is 'The numbers of each feed of a numbered list that were read, and those that are verified by what their walks concluded; none before its first walk ends. A row that was edited since counts as it is.';
