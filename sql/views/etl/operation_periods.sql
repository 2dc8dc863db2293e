create or replace view etl.operation_periods as
with period as (
  select chain_id, unit, date_trunc(unit, day::timestamp)::date as first_day, sum(operations)::bigint as operations,
         sum(failed)::bigint as failed, sum(fees) as fees
  from etl.operation_days
  cross join (values ('week'), ('month')) as units (unit)
  group by chain_id, unit, first_day
)
select chain_id, unit, nullif(first_day, '-infinity') as first_day, operations, failed,
       coalesce(active.senders, 0) as senders, fees * ('1e-' || native_decimals)::numeric as fee_native,
       native_symbol, case when first_day > '-infinity' then coalesce(active.new_senders, 0) end as new_senders
from period
left join (
  select chain_id, unit, first_day, sum(senders)::bigint as senders,
         coalesce(sum(senders) filter (where begun = first_day), 0)::bigint as new_senders
  from etl.active_senders
  group by chain_id, unit, first_day
) as active using (chain_id, unit, first_day)
left join explorer.chains using (chain_id);

comment on view etl.operation_periods is 'User operations by chain and week or month, with true distinct senders. Filter by unit.';
