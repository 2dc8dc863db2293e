-- Which bundlers sent most operations, and how many failed?
--
-- :chain = all  number of the chain
-- :days = 7     so many days, the last of them that of the newest stored bundle
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=bundler_hash y=percent series=chain_id unit=%
with period as materialized (
  select date_trunc('day', max(newest_at), 'UTC') - make_interval(days => :days::int - 1) as since,
         max(newest_at) as newest
  from explorer.freshness
  where operation = 'bundles' and (:chain::bigint is null or chain_id = :chain)
), left_out as materialized (
  select * from explorer.left_out((select (since at time zone 'UTC')::date from period))
), shared as materialized (
  -- The blocks that both lists cover, and the one above: it is covered once another one follows.
  select chain_id, range_intersect_agg(blocks) as blocks
  from (
    select chain_id, operation, range_agg(int8range(from_block, to_block + 1, '[]')) as blocks
    from explorer.coverage
    where operation in ('user-operations', 'bundles') and (:chain::bigint is null or chain_id = :chain)
    group by chain_id, operation
  ) as covered
  group by chain_id
  having count(*) = 2
), bundlers as (
  -- As operations_enriched has them, for all at once: 300,000 operations took six seconds one by one.
  select chain_id, tx_hash, case when min(bundler) = max(bundler) then min(bundler) end as bundler
  from explorer.bundles_enriched
  -- A bundle and its operations have the time of their block, with its fractions or without.
  where block_time between (select since - interval '1 minute' from period)
                       and (select newest + interval '1 minute' from period)
    and (:chain::bigint is null or chain_id = :chain)
  group by chain_id, tx_hash
), sent as materialized (
  select chain_id, bundlers.bundler, success, block_time,
         coalesce(block_number <@ blocks, false) and bundlers.bundler is not null as is_known
  from explorer.operations_enriched
  left join bundlers using (chain_id, tx_hash)
  left join shared using (chain_id)
  where block_time between (select since from period) and (select newest from period)
    and (:chain::bigint is null or chain_id = :chain)
), known as materialized (
  select chain_id, min(block_time) filter (where is_known) as since,
         max(block_time) filter (where is_known) as until, count(*) filter (where is_known) as operations,
         round(100.0 * count(*) filter (where is_known) / count(*), 1) as percent_known
  from sent
  group by chain_id
), bundled as (
  select chain_id, bundler as bundler_hash, count(*) as operations,
         count(*) filter (where not success) as failed
  from sent
  where is_known
  group by chain_id, bundler
)
select known.chain_id, bundler_hash, name, bundled.operations,
       -- A share of fewer than 20 says nothing.
       case when known.operations >= 20
            then round(100.0 * bundled.operations / known.operations, 1) end as percent, failed,
       case when bundled.operations >= 20
            then round(100.0 * failed / bundled.operations, 1) end as failed_percent,
       date_trunc('second', since) as "from", date_trunc('second', until) as "to", percent_known,
       untimed, caveat
from known
left join left_out on left_out.chain_id = known.chain_id
-- Where nothing is known there is a row that says so.
left join bundled on bundled.chain_id = known.chain_id
left join explorer.addresses on (addresses.chain_id, hash) = (known.chain_id, bundler_hash)
order by bundled.operations desc nulls last, known.chain_id, bundler_hash
limit :limit;
