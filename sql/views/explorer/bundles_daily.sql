create or replace view explorer.bundles_daily as
select chain_id, etl.utc_day(block_time) as day, count(*) as bundles, sum(operations)::bigint as operations,
       count(distinct bundler) as bundlers
from explorer.bundles_enriched
group by chain_id, day;

comment on view explorer.bundles_daily is 'Bundles of user operations of each chain and UTC day. Computed for each query: filter by chain_id.';
comment on column explorer.bundles_daily.chain_id is 'Number of the chain.';
comment on column explorer.bundles_daily.day is 'The day, UTC, of the bundle or its block. Null: bundles without a known time.';
comment on column explorer.bundles_daily.bundles is 'Bundles of that day that are in their list.';
comment on column explorer.bundles_daily.operations is 'User operations in these bundles.';
comment on column explorer.bundles_daily.bundlers is 'Addresses that sent them.';
