create or replace view explorer.bundles_daily as
select chain_id, etl.utc_day(timestamp) as day, count(*) as bundles, sum(total_ops)::bigint as operations,
       count(distinct bundler_hash) as bundlers
from (
  select chain_id, total_ops, bundler_hash, timestamp
  from explorer.bundles
  where removed_at is null and timestamp is not null
  union all
  -- By itself, so that a condition on the day reaches the rows above.
  select bundles.chain_id, total_ops, bundler_hash, known.timestamp
  from explorer.bundles
  left join lateral explorer.time_of_block(bundles.chain_id, block_number) as known on true
  where removed_at is null and bundles.timestamp is null
) as bundle
group by chain_id, day;

comment on view explorer.bundles_daily is 'Bundles of user operations of each chain and UTC day. Computed for each query: filter by chain_id.';
comment on column explorer.bundles_daily.chain_id is 'Number of the chain.';
comment on column explorer.bundles_daily.day is 'The day, UTC, of the bundle or its block. Null: bundles of which no time is known.';
comment on column explorer.bundles_daily.bundles is 'Bundles of that day that are in their list.';
comment on column explorer.bundles_daily.operations is 'User operations in these bundles.';
comment on column explorer.bundles_daily.bundlers is 'Addresses that sent them.';
