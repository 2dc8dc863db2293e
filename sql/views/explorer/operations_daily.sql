create or replace view explorer.operations_daily as
select chain_id, nullif(day, '-infinity') as day, nullif(entry_point_version, '') as entry_point_version, operations, failed, senders,
       fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from (
  select chain_id, day, entry_point_version, sum(operations)::bigint as operations, sum(failed)::bigint as failed,
         -- Each is of one kind.
         sum(senders)::bigint as senders, sum(fees) as fees
  from etl.operation_days
  group by chain_id, day, entry_point_version
) as summed
left join explorer.chains using (chain_id);

comment on view explorer.operations_daily is 'User operations of each chain and UTC day, by version of the entry point. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.operations_daily.chain_id is 'Number of the chain.';
comment on column explorer.operations_daily.day is 'The day, UTC. Null: operations without a known time.';
comment on column explorer.operations_daily.entry_point_version is 'Version of the entry point, such as v0.7. Null: not reported.';
comment on column explorer.operations_daily.operations is 'Operations of that time that are in their list.';
comment on column explorer.operations_daily.failed is 'Those of them that failed.';
comment on column explorer.operations_daily.senders is 'Senders of these operations. One that used two versions counts in both rows.';
comment on column explorer.operations_daily.fee_native is 'Fees of these operations, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.operations_daily.native_symbol is 'The chain''s own currency. Null: not known.';
