create or replace view explorer.operations_weekly as
select chain_id, first_day as week, operations, failed, senders, fee_native, native_symbol, new_senders
from etl.operation_periods
where unit = 'week';

comment on view explorer.operations_weekly is 'User operations of each chain and week, with true distinct senders. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.operations_weekly.chain_id is 'Number of the chain.';
comment on column explorer.operations_weekly.week is 'Its first day, UTC, a Monday. Null: operations without a known time.';
comment on column explorer.operations_weekly.operations is 'Operations of that time that are in their list.';
comment on column explorer.operations_weekly.failed is 'Those of them that failed.';
comment on column explorer.operations_weekly.senders is 'Senders of these operations, each once.';
comment on column explorer.operations_weekly.fee_native is 'Fees of these operations, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.operations_weekly.native_symbol is 'The chain''s own currency. Null: not known.';
comment on column explorer.operations_weekly.new_senders is 'Senders whose first stored operation is of that time: see explorer.history. Null: operations without a known time.';
