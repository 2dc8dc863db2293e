create or replace view explorer.operations_monthly as
select chain_id, first_day as month, operations, failed, senders, fee_native, native_symbol, new_senders
from etl.operation_periods
where unit = 'month';

comment on view explorer.operations_monthly is 'User operations of each chain and month, with true distinct senders. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.operations_monthly.chain_id is 'Number of the chain.';
comment on column explorer.operations_monthly.month is 'Its first day, UTC. Null: operations without a known time.';
comment on column explorer.operations_monthly.operations is 'Operations of that time that are in their list.';
comment on column explorer.operations_monthly.failed is 'Those of them that failed.';
comment on column explorer.operations_monthly.senders is 'Senders of these operations, each once.';
comment on column explorer.operations_monthly.fee_native is 'Fees of these operations, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.operations_monthly.native_symbol is 'The chain''s own currency. Null: not known.';
comment on column explorer.operations_monthly.new_senders is 'Senders whose first stored operation is of that time: see explorer.history. Null: operations without a known time.';
