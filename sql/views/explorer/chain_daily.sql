create or replace view explorer.chain_daily as
select chain_id, day, blocks, transactions, gas_used,
       (100 * gas_used / nullif(gas_limit, 0))::double precision as fill_percent,
       burnt_fees * ('1e-' || native_decimals)::numeric as burnt_native,
       transaction_fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.block_days
left join explorer.chains using (chain_id);

comment on view explorer.chain_daily is 'Blocks of each chain and UTC day, of those that are copied: the blocks of the batches that are requested. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.chain_daily.chain_id is 'Number of the chain.';
comment on column explorer.chain_daily.day is 'The day, UTC.';
comment on column explorer.chain_daily.blocks is 'Blocks of that day.';
comment on column explorer.chain_daily.transactions is 'Their transactions. Null: not reported.';
comment on column explorer.chain_daily.gas_used is 'Gas that they used. Null: not reported.';
comment on column explorer.chain_daily.fill_percent is 'Gas that they used, as a percentage of their gas limits. Null: not reported.';
comment on column explorer.chain_daily.burnt_native is 'Fees that were burnt, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.chain_daily.fee_native is 'Fees of their transactions, in the same currency, exact. Null: none is reported.';
comment on column explorer.chain_daily.native_symbol is 'Symbol of that currency. Null: not known.';
