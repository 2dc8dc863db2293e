create or replace view etl.timed_operations as
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
-- Of the first arm those that report a time.
where (timestamp is not null or timestamp_source is distinct from 'operation') and removed_at is null;

comment on view etl.timed_operations is 'User operations that are in their list, with the time of the block where they report none.';
