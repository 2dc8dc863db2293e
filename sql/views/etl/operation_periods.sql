create or replace view etl.operation_periods as
select op.chain_id, unit, date_trunc(unit, op.timestamp at time zone 'UTC')::date as first_day,
       count(*) as operations, count(*) filter (where not status) as failed,
       count(distinct address_hash) as senders,
       sum(fee) * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.timed_operations as op
cross join (values ('week'), ('month')) as units (unit)
left join explorer.chains on chains.chain_id = op.chain_id
group by op.chain_id, unit, first_day, native_decimals, native_symbol;

comment on view etl.operation_periods is 'User operations by chain and week or month, with true distinct senders. Filter by unit.';
