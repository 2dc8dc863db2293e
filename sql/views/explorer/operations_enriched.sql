create or replace view explorer.operations_enriched as
select op.chain_id, chains.name as blockchain, op.hash as userop_hash, op.timestamp as block_time,
       op.timestamp_source as block_time_source, op.block_number, blocks.optimism_batch_number,
       op.transaction_hash as tx_hash, op.status as success, op.address_hash as sender,
       coalesce(sender.name, sender.ens_domain_name) as sender_name,
       etl.address_kind(sender.proxy_type, sender.is_contract) as sender_kind,
       op.entry_point_hash as entry_point,
       coalesce(entry_point.name, entry_point.ens_domain_name) as entry_point_name,
       etl.address_kind(entry_point.proxy_type, entry_point.is_contract) as entry_point_kind,
       op.entry_point_version, op.fee,
       -- The usual decimals as a literal: to make the number for each row takes longer than all else of the fee.
       op.fee * case chains.native_decimals when 18 then 1e-18
                     else ('1e-' || chains.native_decimals)::numeric end as fee_native,
       chains.native_symbol,
       (
         select max(case when late.timestamp is not null
                        then greatest(late.seen_at - late.timestamp, interval '0') end)
         from etl.late_arrivals as late
         where late.chain_id = op.chain_id and late.operation = 'user-operations'
           and late.key = op.hash collate "default"
       ) as lateness,
       op.first_seen_at, op.updated_at, op.page_id,
       (
         -- The list does not say in which of a transaction's bundles an operation is.
         select min(bundle.bundler_hash)
         from explorer.bundles as bundle
         where bundle.chain_id = op.chain_id and bundle.removed_at is null
           and bundle.transaction_hash = op.transaction_hash collate "C"
         having min(bundle.bundler_hash) = max(bundle.bundler_hash)
       ) as bundler
from etl.timed_operations as op
left join explorer.chains on chains.chain_id = op.chain_id
left join explorer.addresses as sender
  on sender.chain_id = op.chain_id and sender.hash = op.address_hash
left join explorer.addresses as entry_point
  on entry_point.chain_id = op.chain_id and entry_point.hash = op.entry_point_hash
left join explorer.blocks on blocks.chain_id = op.chain_id and blocks.height = op.block_number;

comment on view explorer.operations_enriched is 'User operations that are in their list, with times, fees in the chain''s own currency, and names. Most columns have the names of Dune''s tables.';
comment on column explorer.operations_enriched.chain_id is 'Number of the chain.';
comment on column explorer.operations_enriched.blockchain is 'Name of the chain, as configured.';
comment on column explorer.operations_enriched.userop_hash is 'Hash of the operation.';
comment on column explorer.operations_enriched.block_time is 'When it was executed, UTC: its own time, or the one of its block. A condition on a range of it is fast, on a part of it (block_time::date) slow. Null: neither is known.';
comment on column explorer.operations_enriched.block_time_source is 'Who reports the time. operation: itself. block: its block, from optimism-batch-blocks. sibling: another operation in the same block. Null: none.';
comment on column explorer.operations_enriched.block_number is 'Its block. Null: not reported.';
comment on column explorer.operations_enriched.optimism_batch_number is 'Optimism batch of its block. Null: not read, or in no batch.';
comment on column explorer.operations_enriched.tx_hash is 'Transaction that executed it. Null: not reported.';
comment on column explorer.operations_enriched.success is 'Whether it succeeded. Null: not reported.';
comment on column explorer.operations_enriched.sender is 'Its sender, the smart account: explorer.addresses.hash. Null: not reported.';
comment on column explorer.operations_enriched.sender_name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.operations_enriched.sender_kind is 'What the sender is now, not at the time of the operation: its kind of proxy, such as eip7702, else contract, else account. Null: not reported.';
comment on column explorer.operations_enriched.entry_point is 'Entry point contract: explorer.addresses.hash. Null: not reported.';
comment on column explorer.operations_enriched.entry_point_name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.operations_enriched.entry_point_kind is 'What the entry point is now, as sender_kind. Null: not reported.';
comment on column explorer.operations_enriched.entry_point_version is 'Version of the entry point, such as v0.7. Null: not reported.';
comment on column explorer.operations_enriched.fee is 'In wei. Null: not reported.';
comment on column explorer.operations_enriched.fee_native is 'Fee in the chain''s own currency, exact: native_symbol names it. Null: no fee is reported.';
comment on column explorer.operations_enriched.native_symbol is 'The chain''s own currency. Null: not known.';
comment on column explorer.operations_enriched.lateness is 'How much later than its own time it was first seen, if its list had been verified complete without it. Null: it was in time, or its own time is unknown.';
comment on column explorer.operations_enriched.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.operations_enriched.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.operations_enriched.page_id is 'Page that last changed the row: explorer.provenance.page_id.';
comment on column explorer.operations_enriched.bundler is 'Bundler of its transaction, from bundles: explorer.addresses.hash. Null: not read, or several.';
