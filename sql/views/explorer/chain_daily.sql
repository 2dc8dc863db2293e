create or replace view explorer.chain_daily as
select chain_id, day, blocks, transactions, gas_used,
       (100 * gas_used / nullif(gas_limit, 0))::double precision as fill_percent,
       burnt_fees * ('1e-' || native_decimals)::numeric as burnt_native,
       transaction_fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol,
       first_at as from_at, last_at as to_at,
       -- As long as a block of the day takes, times their number.
       round(least(
         100 * blocks * extract(epoch from last_at - first_at)
           / nullif(last_height - first_height, 0) / 86400, 100
       ), 1)::double precision as percent_known
from etl.block_days
left join explorer.chains using (chain_id);

comment on view explorer.chain_daily is 'Blocks of each chain and UTC day, of the batches that are requested. Summed up once a minute: explorer.refreshed says up to when.';
comment on column explorer.chain_daily.chain_id is 'Number of the chain.';
comment on column explorer.chain_daily.day is 'The day, UTC.';
comment on column explorer.chain_daily.blocks is 'Blocks of that day.';
comment on column explorer.chain_daily.transactions is 'Their transactions. Null: not reported.';
comment on column explorer.chain_daily.gas_used is 'Gas that they used. Null: not reported.';
comment on column explorer.chain_daily.fill_percent is 'gas_used as a percentage of their gas limits. Null: not reported.';
comment on column explorer.chain_daily.burnt_native is 'Fees burnt, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.chain_daily.fee_native is 'Fees of their transactions, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.chain_daily.native_symbol is 'The chain''s own currency. Null: not known.';
comment on column explorer.chain_daily.from_at is 'Time of the first of these blocks, UTC.';
comment on column explorer.chain_daily.to_at is 'Time of the last of these blocks, UTC.';
comment on column explorer.chain_daily.percent_known is 'How much of the day these blocks are, by the time that one takes: compare only days with as much. Null: a single block.';
