-- Which paymasters pay for which share of operations?
--
-- :chain = all  number of the chain
-- :limit = 20   rows at most
--
-- topic: bundles
-- chart: bars x=address_hash y=percent series=chain_id unit=%
with history as materialized (
  -- What came in ten minutes after the poll is too little to count.
  select chain_id, from_at, coalesce(to_at, looked_at + interval '10 minutes') as to_at
  from explorer.history
  join explorer.freshness using (chain_id, operation)
  where operation = 'user-operations' and (:chain::bigint is null or chain_id = :chain)
), period as materialized (
  -- From the list's beginning, else from the first ranking that it covers, to the last one.
  select chain_id, case when from_at is not null then min(observed_at) end as since,
         max(observed_at) as until,
         from_at is not null and min(observed_at) = max(observed_at) as is_empty
  from explorer.paymaster_history
  join history using (chain_id)
  where observed_at between coalesce(from_at, '-infinity') and to_at
  group by chain_id, from_at
), moment as materialized (
  select chain_id, at, (
           select coalesce(sum(operations), 0)
           from explorer.operations_daily
           where operations_daily.chain_id = bound.chain_id and day < (at at time zone 'UTC')::date
         ) + (
           select count(*)
           from explorer.operations_enriched
           where operations_enriched.chain_id = bound.chain_id
             and block_time between date_trunc('day', at, 'UTC') and at
         ) as operations
  from (
    select chain_id, since as at from period where since is not null
    union
    select chain_id, until from period
  ) as bound
), counted as materialized (
  select period.chain_id, since, until, last.operations - coalesce(first.operations, 0) as operations
  from period
  join moment as last on last.chain_id = period.chain_id and last.at = until
  left join moment as first on first.chain_id = period.chain_id and first.at = since
  where not is_empty
), paid as materialized (
  -- Rankings are whole: who is absent from an earlier one began at 0.
  select chain_id, address_hash, since, until, operations,
         coalesce((array_agg(total_ops order by observed_at desc) filter (where observed_at <= until))[1], 0)
         - coalesce((array_agg(total_ops order by observed_at desc) filter (where observed_at <= since))[1], 0)
           as paid
  from explorer.paymaster_history
  join counted using (chain_id)
  group by chain_id, address_hash, since, until, operations
), left_out as materialized (
  select chain_id, untimed from explorer.left_out(null)
), share as (
  select *, sum(paid) over (partition by chain_id) <= operations and operations >= 20 as is_sound from paid
)
select rank, paymasters.chain_id, paymasters.address_hash, name, total_ops,
       paid as paid_of_known, operations::bigint as known_operations,
       case when is_sound then round(100.0 * paid / operations, 1) end as percent,
       case when is_sound then round(100.0 * sum(paid) over up_to / operations, 1) end as percent_up_to,
       date_trunc('second', since) as "from", date_trunc('second', until) as "to",
       case when operations is null then 'no two rankings within the complete history'
            when not is_sound and operations < 20 then 'fewer than 20 operations'
            when not is_sound then 'rankings count more operations than are listed' end as caveat,
       untimed
from explorer.paymasters
left join left_out on left_out.chain_id = paymasters.chain_id
left join share on (share.chain_id, share.address_hash) = (paymasters.chain_id, paymasters.address_hash)
left join explorer.addresses on (addresses.chain_id, hash) = (paymasters.chain_id, paymasters.address_hash)
where rank is not null and (:chain::bigint is null or paymasters.chain_id = :chain)
window up_to as (partition by paymasters.chain_id order by rank)
order by rank, paymasters.chain_id
limit :limit;
