create or replace view explorer.bundles_enriched as
select bundle.chain_id, chains.name as blockchain, transaction_hash as tx_hash, bundle_index,
       bundle.timestamp as block_time, timestamp_source as block_time_source, block_number,
       bundler_hash as bundler, coalesce(bundler.name, bundler.ens_domain_name) as bundler_name,
       total_ops as operations, bundle.first_seen_at, bundle.updated_at, bundle.page_id
from (
  select chain_id, transaction_hash, bundle_index, timestamp, 'bundle'::text as timestamp_source,
         block_number, bundler_hash, total_ops, first_seen_at, updated_at, page_id
  from explorer.bundles
  where removed_at is null and timestamp is not null
  union all
  -- By itself, so that a condition on the time reaches the rows above.
  select bundles.chain_id, transaction_hash, bundle_index, known.timestamp, known.source,
         block_number, bundler_hash, total_ops, first_seen_at, updated_at, page_id
  from explorer.bundles
  left join lateral explorer.time_of_block(bundles.chain_id, block_number) as known on true
  where removed_at is null and bundles.timestamp is null
) as bundle
left join explorer.chains on chains.chain_id = bundle.chain_id
left join explorer.addresses as bundler on bundler.chain_id = bundle.chain_id and bundler.hash = bundler_hash;

comment on view explorer.bundles_enriched is 'Bundles that are in their list, with times and the name of the bundler.';
comment on column explorer.bundles_enriched.chain_id is 'Number of the chain.';
comment on column explorer.bundles_enriched.blockchain is 'Name of the chain, as configured.';
comment on column explorer.bundles_enriched.tx_hash is 'Transaction that brought the bundle.';
comment on column explorer.bundles_enriched.bundle_index is 'Place among the bundles of the transaction.';
comment on column explorer.bundles_enriched.block_time is 'When it was executed, UTC: its own time, or the one of its block. Null: neither is known.';
comment on column explorer.bundles_enriched.block_time_source is 'Who reports the time. bundle: itself. block: its block, from optimism-batch-blocks. sibling: a user operation in the same block. Null: none.';
comment on column explorer.bundles_enriched.block_number is 'Its block. Null: not reported.';
comment on column explorer.bundles_enriched.bundler is 'Address that sent it: explorer.addresses.hash. Null: not reported.';
comment on column explorer.bundles_enriched.bundler_name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.bundles_enriched.operations is 'Its user operations in canonical blocks, as last read. Null: not reported.';
comment on column explorer.bundles_enriched.first_seen_at is 'When the row was first written, by the database''s clock.';
comment on column explorer.bundles_enriched.updated_at is 'When the row last changed, by the database''s clock; reading the same again does not move it.';
comment on column explorer.bundles_enriched.page_id is 'Page that last changed the row: explorer.provenance.page_id.';
