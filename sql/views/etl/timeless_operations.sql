create or replace function etl.timeless_operations() returns table (
  chain_id bigint, hash text, "timestamp" timestamptz, timestamp_source text, block_number bigint,
  transaction_hash text, status boolean, address_hash text, entry_point_hash text,
  entry_point_version text, fee numeric, removed_at timestamptz, first_seen_at timestamptz,
  updated_at timestamptz, page_id bigint
)
language plpgsql stable parallel safe rows 100 set search_path = pg_catalog, pg_temp as $$
declare
  op explorer.user_operations;
begin
  for op in select * from explorer.user_operations where user_operations.timestamp is null loop
    select known.timestamp, known.source into timestamp, timestamp_source
    from explorer.time_of_block(op.chain_id, op.block_number) as known;
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

comment on function etl.timeless_operations is 'User operations that report no time, with that of their block. As a function: of a union whose arms have conditions or joins the planner takes no order from an index. With a loop: a server that holds a part of the rows alone has no blocks to join.';
