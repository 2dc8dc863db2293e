create or replace view explorer.batch_stats as
select sums.chain_id, sums.batch_number, first_at, last_at, sums.blocks,
       extract(epoch from last_at - first_at)::double precision / nullif(sums.blocks - 1, 0) as block_seconds,
       sums.transactions, sums.size as size_bytes, sums.gas_used,
       (100 * sums.gas_used / nullif(sums.gas_limit, 0))::double precision as fill_percent,
       sums.burnt_fees * ('1e-' || native_decimals)::numeric as burnt_native,
       sums.transaction_fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol,
       listed.l1_timestamp, listed.l1_timestamp - last_at as l1_delay
from etl.batch_sums as sums
left join explorer.chains on chains.chain_id = sums.chain_id
left join explorer.listed_batches as listed
  on listed.chain_id = sums.chain_id and listed.batch_number = sums.batch_number
  and listed.removed_at is null;

comment on view explorer.batch_stats is 'Totals of the blocks of each Optimism batch. Summed up once a minute: explorer.refreshed says up to when. Whether all of them are there: explorer.optimism_batches.state.';
comment on column explorer.batch_stats.chain_id is 'Number of the chain.';
comment on column explorer.batch_stats.batch_number is 'Number of the batch.';
comment on column explorer.batch_stats.first_at is 'Time of its first block, UTC. Null: not reported.';
comment on column explorer.batch_stats.last_at is 'Time of its last block, UTC. Null: not reported.';
comment on column explorer.batch_stats.blocks is 'Its blocks.';
comment on column explorer.batch_stats.block_seconds is 'Seconds from one block to the next, on average. Null: it has one block, or times are missing.';
comment on column explorer.batch_stats.transactions is 'Transactions of its blocks. Null: not reported.';
comment on column explorer.batch_stats.size_bytes is 'Size of its blocks, in bytes. Null: not reported.';
comment on column explorer.batch_stats.gas_used is 'Gas that its blocks used. Null: not reported.';
comment on column explorer.batch_stats.fill_percent is 'gas_used as a percentage of their gas limits. Null: not reported.';
comment on column explorer.batch_stats.burnt_native is 'Fees burnt in its blocks, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.batch_stats.fee_native is 'Fees of the transactions in its blocks, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.batch_stats.native_symbol is 'The chain''s own currency. Null: not known.';
comment on column explorer.batch_stats.l1_timestamp is 'When it was posted to L1, UTC. Null: optimism-batches is not copied, or does not report it.';
comment on column explorer.batch_stats.l1_delay is 'From its last block to L1. Null: one of the two times is not known.';
