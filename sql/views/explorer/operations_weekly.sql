create or replace view explorer.operations_weekly as
select op.chain_id, date_trunc('week', op.timestamp at time zone 'UTC')::date as week,
       count(*) as operations, count(*) filter (where not status) as failed,
       count(distinct address_hash) as senders,
       sum(fee) * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.timed_operations as op
left join explorer.chains on chains.chain_id = op.chain_id
where op.timestamp is not null
group by op.chain_id, week, native_decimals, native_symbol;

comment on view explorer.operations_weekly is 'User operations of each chain and week, with true distinct senders. Computed for each query: filter by chain_id.';
comment on column explorer.operations_weekly.chain_id is 'Number of the chain.';
comment on column explorer.operations_weekly.week is 'Its first day, UTC, a Monday.';
comment on column explorer.operations_weekly.operations is 'Operations of that time that are in their list.';
comment on column explorer.operations_weekly.failed is 'Those of them that failed.';
comment on column explorer.operations_weekly.senders is 'Senders of these operations, each once.';
comment on column explorer.operations_weekly.fee_native is 'Their fees, exact, in native_symbol. Null: none is reported.';
comment on column explorer.operations_weekly.native_symbol is 'The chain''s own currency. Null: not known.';
