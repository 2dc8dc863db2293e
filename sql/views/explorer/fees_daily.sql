create or replace view explorer.fees_daily as
select chain_id, nullif(day, '-infinity') as day, operations, fees[1] * unit as p10_native,
       fees[2] * unit as p50_native, fees[3] * unit as p90_native, fees[4] * unit as p99_native, native_symbol
from etl.fee_days
left join explorer.chains using (chain_id)
cross join lateral (select ('1e-' || native_decimals)::numeric as unit) as own;

comment on view explorer.fees_daily is 'How the fees of user operations spread, for each chain and UTC day. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.fees_daily.chain_id is 'Number of the chain.';
comment on column explorer.fees_daily.day is 'The day, UTC. Null: operations without a known time.';
comment on column explorer.fees_daily.operations is 'Operations in their list that report a fee.';
comment on column explorer.fees_daily.p10_native is 'A tenth of them cost at most this, in the chain''s own currency, exact: native_symbol names it.';
comment on column explorer.fees_daily.p50_native is 'Half of them cost at most this: the median.';
comment on column explorer.fees_daily.p90_native is 'Nine of ten cost at most this.';
comment on column explorer.fees_daily.p99_native is 'All but one of a hundred cost at most this.';
comment on column explorer.fees_daily.native_symbol is 'The chain''s own currency. Null: not known.';
