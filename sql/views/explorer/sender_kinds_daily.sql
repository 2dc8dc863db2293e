create or replace view explorer.sender_kinds_daily as
select chain_id, nullif(day, '-infinity') as day, nullif(entry_point_version, '') as entry_point_version,
       nullif(sender_kind, '') as kind_now, operations, failed, senders
from etl.operation_days;

comment on view explorer.sender_kinds_daily is 'User operations of each chain and UTC day, by version of the entry point and by what their senders are now. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.sender_kinds_daily.chain_id is 'Number of the chain.';
comment on column explorer.sender_kinds_daily.day is 'The day, UTC. Null: operations without a known time.';
comment on column explorer.sender_kinds_daily.entry_point_version is 'Version of the entry point, such as v0.7. Null: not reported.';
comment on column explorer.sender_kinds_daily.kind_now is 'What their senders are now, not on that day: sender_kind of explorer.operations_enriched. Null: not reported.';
comment on column explorer.sender_kinds_daily.operations is 'Operations of that time that are in their list.';
comment on column explorer.sender_kinds_daily.failed is 'Those of them that failed.';
comment on column explorer.sender_kinds_daily.senders is 'Senders of these operations. One that used two versions counts in both rows.';
