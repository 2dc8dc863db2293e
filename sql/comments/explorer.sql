-- Columns of several tables, which mean the same in each. What a table says otherwise follows.
do $$
declare
  shared record;
begin
  for shared in
    select attrelid::regclass as of_table, name, comment
    from (values
      ('chain_id', 'Number of the chain.'),
      ('address_hash', 'Whose it is: explorer.addresses.hash.'),
      ('block_height', 'Block that it belongs to: explorer.blocks.height.'),
      ('first_seen_at', 'When the row was first written, by the database''s clock.'),
      ('updated_at', 'When the row last changed, by the database''s clock; reading the same again does not move it.'),
      ('page_id', 'Page that last changed the row: explorer.provenance.page_id.'),
      ('position', 'Place in the order served, from 0.'),
      ('extra', 'Fields of the item that no column or child table holds, as served, and values of another type or format under their field''s name and what is off (fee (malformed)). Null: none.'),
      ('removed_at', 'When pages showed that the item has left its list. Null: it is listed, as far as was read since.'),
      ('rank', 'Place in the newest complete ranking as served, from 1. Null: not in that ranking, or none is complete.'),
      ('observed_at', 'When the ranking was published that found the change, by the database''s clock.'),
      ('missing_since', 'When a complete ranking first lacked the item, by the database''s clock. Null: it is in the newest one, or none is complete since it was seen.')
    ) as meaning (name, comment)
    join pg_attribute on attname = name
    join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p')
    where relnamespace = 'explorer'::regnamespace
  loop
    execute format('comment on column %s.%I is %L', shared.of_table, shared.name, shared.comment);
  end loop;
end
$$;

comment on table explorer.address_implementations is 'Implementations behind a proxy. Source: implementations[] of an address.';
comment on column explorer.address_implementations.implementation_hash is 'Its address; API field implementations[].address_hash, in older versions address. Lower-case hex with 0x, 20 bytes. Null: not reported.';
comment on column explorer.address_implementations.name is 'Its name; API field implementations[].name. Null: not reported.';

comment on table explorer.address_labels is 'Labels of an address. Source: private_tags[] and public_tags[] of an address. Private ones belong to the key''s owner.';
comment on column explorer.address_labels.kind is 'private: from private_tags[]; public: from public_tags[].';
comment on column explorer.address_labels.label is 'The label; API field private_tags[].label or public_tags[].label. Null: not reported.';
comment on column explorer.address_labels.display_name is 'The label as shown; API field private_tags[].display_name or public_tags[].display_name. Null: not reported.';

comment on table explorer.address_metadata_tags is 'Tags of an address. Source: metadata.tags[] of an address.';
comment on column explorer.address_metadata_tags.slug is 'Short name of the tag; API field metadata.tags[].slug. Null: not reported.';
comment on column explorer.address_metadata_tags.name is 'Name to show; API field metadata.tags[].name. Null: not reported.';
comment on column explorer.address_metadata_tags.tag_type is 'Such as name, generic or protocol; API field metadata.tags[].tagType, free text. Null: not reported.';
comment on column explorer.address_metadata_tags.ordinal is 'Weight that orders tags for display; API field metadata.tags[].ordinal. Null: not reported.';
comment on column explorer.address_metadata_tags.meta is 'What else the tag holds; API field metadata.tags[].meta, free-form. Null: nothing.';

comment on table explorer.address_watchlist_names is 'Names from the watch list of the key''s owner. Source: watchlist_names[] of an address.';
comment on column explorer.address_watchlist_names.label is 'The name; API field watchlist_names[].label. Null: not reported.';
comment on column explorer.address_watchlist_names.display_name is 'The name as shown; API field watchlist_names[].display_name. Null: not reported.';

comment on table explorer.addresses is 'Every address that was seen in an item, merged from all observations of it. Source: miner of a block, and each address of the lists of account abstraction.';
comment on column explorer.addresses.hash is 'Its identity; API field hash. Lower-case hex with 0x, 20 bytes.';
comment on column explorer.addresses.name is 'Name of the contract or address; API field name. Newest informed observation. Null: it has none, or none was reported.';
comment on column explorer.addresses.ens_domain_name is 'ENS name; API field ens_domain_name. Newest value reported. Null: never reported.';
comment on column explorer.addresses.is_contract is 'Whether it is a contract; API field is_contract. Newest reported by an observation that is no stub. Null: never reported, as by stubs.';
comment on column explorer.addresses.is_scam is 'Whether the explorer marks it as a scam; API field is_scam. True once any observation said so. Null: never reported.';
comment on column explorer.addresses.is_verified is 'Whether its source is verified; API field is_verified. Newest informed observation. Null: never reported, or no contract.';
comment on column explorer.addresses.proxy_type is 'Such as eip1967; API field proxy_type, free text. Newest informed observation. Null: no proxy, or missing.';
comment on column explorer.addresses.reputation is 'ok, scam or another word; API field reputation, free text. A value other than ok is not replaced by ok, which is printed where it was not looked up. Null: never reported.';
comment on column explorer.addresses.extra is 'Fields that no column or child table holds, as in other tables, and labels that name another address (foreign_tags). The newest that was not null. Null: none.';

comment on table explorer.block_arbitrum is 'What Arbitrum chains add to a block: its batch, and the transactions of the parent chain that commit and confirm it. No row if the block has no arbitrum object. Source: arbitrum of a block.';
comment on column explorer.block_arbitrum.batch_number is 'The block''s batch; API field arbitrum.batch_number. Null: not reported.';
comment on column explorer.block_arbitrum.status is 'How far the parent chain secures the block, such as Confirmed on base; API field arbitrum.status, free text. Null: not reported.';
comment on column explorer.block_arbitrum.batch_data_container is 'Where the batch''s data lies, such as in_blob4844; API field arbitrum.batch_data_container, free text. Null: not reported.';
comment on column explorer.block_arbitrum.delayed_messages is 'Delayed messages; API field arbitrum.delayed_messages. Null: not reported.';
comment on column explorer.block_arbitrum.l1_block_number is 'Height of the parent chain that the block refers to; API field arbitrum.l1_block_number. Null: not reported.';
comment on column explorer.block_arbitrum.send_count is 'Messages sent to the parent chain; API field arbitrum.send_count. Null: not reported.';
comment on column explorer.block_arbitrum.send_root is 'Root of the tree of sent messages; API field arbitrum.send_root. Lower-case hex with 0x, 32 bytes. Null: not reported.';
comment on column explorer.block_arbitrum.commitment_transaction_hash is 'Hash of the commitment transaction; API field arbitrum.commitment_transaction.hash. Null: not reported.';
comment on column explorer.block_arbitrum.commitment_transaction_status is 'Status of the commitment transaction, such as unfinalized; API field arbitrum.commitment_transaction.status, free text. Null: not reported.';
comment on column explorer.block_arbitrum.commitment_transaction_timestamp is 'Time of the commitment transaction, UTC; API field arbitrum.commitment_transaction.timestamp. Null: not reported.';
comment on column explorer.block_arbitrum.confirmation_transaction_hash is 'Hash of the confirmation transaction; API field arbitrum.confirmation_transaction.hash. Null: not reported.';
comment on column explorer.block_arbitrum.confirmation_transaction_status is 'Status of the confirmation transaction, such as unfinalized; API field arbitrum.confirmation_transaction.status, free text. Null: not reported.';
comment on column explorer.block_arbitrum.confirmation_transaction_timestamp is 'Time of the confirmation transaction, UTC; API field arbitrum.confirmation_transaction.timestamp. Null: not reported.';

comment on table explorer.block_reorgs is 'Every block hash that another one replaced at its height: a reorganisation, seen when the block was read again.';
comment on column explorer.block_reorgs.height is 'Block number at which the hash changed.';
comment on column explorer.block_reorgs.old_hash is 'Hash that was stored before. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.block_reorgs.new_hash is 'Hash that took its place. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.block_reorgs.observed_at is 'When the change was seen, by the database''s clock.';

comment on table explorer.block_rewards is 'Rewards of a block. Source: rewards[] of a block.';
comment on column explorer.block_rewards.reward is 'In wei; API field rewards[].reward. Null: not reported.';
comment on column explorer.block_rewards.type is 'Its kind; API field rewards[].type, free text. Null: not reported.';
comment on column explorer.block_rewards.address_hash is 'Who was rewarded; API field rewards[].address_hash. Lower-case hex with 0x, 20 bytes. Null: not reported, as in newer versions of the API.';

comment on table explorer.block_uncles is 'Uncles of a block. Source: uncles_hashes[] of a block.';
comment on column explorer.block_uncles.hash is 'Its hash; API field uncles_hashes[].hash. Lower-case hex with 0x, 32 bytes. Null: not reported.';

comment on table explorer.blocks is 'Blocks that Optimism batches listed, one row for each height. Source: /blocks/optimism-batch/{batch}.';
comment on column explorer.blocks.height is 'Block number; API field height.';
comment on column explorer.blocks.hash is 'Hash of the block at this height now; API field hash. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.blocks.parent_hash is 'Hash of the block below; API field parent_hash. Lower-case hex with 0x, 32 bytes. Null: not reported.';
comment on column explorer.blocks.timestamp is 'When the block was made, UTC; API field timestamp. Null: not reported.';
comment on column explorer.blocks.type is 'Such as block; API field type, free text. Null: not reported.';
comment on column explorer.blocks.miner_hash is 'Who made the block: explorer.addresses.hash; API field miner.hash. Lower-case hex with 0x, 20 bytes. Null: not reported.';
comment on column explorer.blocks.nonce is 'Of the header, as hex text; API field nonce. Null: not reported.';
comment on column explorer.blocks.size is 'In bytes; API field size. Null: not reported.';
comment on column explorer.blocks.is_pending_update is 'True: the explorer announces that fees and counts will still change; API field is_pending_update. Null: not reported.';
comment on column explorer.blocks.transactions_count is 'Its transactions; API field transactions_count, in older versions transaction_count or tx_count. Null: not reported.';
comment on column explorer.blocks.internal_transactions_count is 'Its internal transactions; API field internal_transactions_count. Null: not reported, as in most lists.';
comment on column explorer.blocks.withdrawals_count is 'Its withdrawals; API field withdrawals_count. Null: not reported, as in most lists.';
comment on column explorer.blocks.gas_limit is 'Gas that it may use; API field gas_limit. Null: not reported.';
comment on column explorer.blocks.gas_used is 'Gas that it used; API field gas_used. Null: not reported.';
comment on column explorer.blocks.gas_used_percentage is 'gas_used of gas_limit; API field gas_used_percentage. Null: not reported.';
comment on column explorer.blocks.gas_target_percentage is 'Distance of gas_used from the target, from -100 up; API field gas_target_percentage. Null: not reported.';
comment on column explorer.blocks.base_fee_per_gas is 'In wei per gas; API field base_fee_per_gas. Null: not reported.';
comment on column explorer.blocks.burnt_fees is 'In wei; API field burnt_fees. Null: not reported.';
comment on column explorer.blocks.burnt_fees_percentage is 'Burnt part of the fees, may exceed 100; API field burnt_fees_percentage. Null: not reported.';
comment on column explorer.blocks.priority_fee is 'In wei; API field priority_fee. Null: not reported.';
comment on column explorer.blocks.transaction_fees is 'Fees of all transactions, in wei; API field transaction_fees. Null: not reported.';
comment on column explorer.blocks.difficulty is 'Its difficulty; API field difficulty. Null: not reported.';
comment on column explorer.blocks.total_difficulty is 'That of the chain up to this block; API field total_difficulty. Null: not reported.';
comment on column explorer.blocks.optimism_batch_number is 'Batch that listed it when it was last read, from the request''s path: explorer.read_batches. Null: in none.';

comment on table explorer.bundlers is 'Addresses that sent bundles of user operations, with their counts. Source: /proxy/account-abstraction/bundlers.';
comment on column explorer.bundlers.total_bundles is 'Bundles that it sent, as last read; may fall; API field total_bundles. Null: not reported.';
comment on column explorer.bundlers.total_ops is 'User operations in these bundles, as last read; may fall; API field total_ops. Null: not reported.';
comment on column explorer.bundlers.address_hash is 'Whose it is: explorer.addresses.hash; API field address. Lower-case hex with 0x, 20 bytes.';

comment on table explorer.bundler_history is 'One row for each change of total_ops in explorer.bundlers from one complete ranking to the next.';
comment on column explorer.bundler_history.total_ops is 'explorer.bundlers.total_ops in that ranking; API field total_ops. Null: not reported.';

comment on table explorer.bundles is 'Bundles of user operations (ERC-4337), several in some transactions. Source: /proxy/account-abstraction/bundles.';
comment on column explorer.bundles.transaction_hash is 'Transaction that brought the bundle; API field transaction_hash. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.bundles.bundle_index is 'Place among the bundles of the transaction; API field bundle_index.';
comment on column explorer.bundles.block_number is 'Its block; API field block_number. Null: not reported, or out of order (in extra).';
comment on column explorer.bundles.timestamp is 'Time of that block, UTC; API field timestamp. Null: not reported.';
comment on column explorer.bundles.bundler_hash is 'Who sent it: explorer.addresses.hash; API field bundler. Lower-case hex with 0x, 20 bytes. Null: not reported.';
comment on column explorer.bundles.total_ops is 'Its user operations in canonical blocks, as last read; may fall; API field total_ops. Null: not reported.';

comment on table explorer.chains is 'The chains of the configuration, one row each.';
comment on column explorer.chains.chain_id is 'Number of the chain: the chain_id in the API''s path.';
comment on column explorer.chains.name is 'Name from the configuration, else the usual one; chain-<id> for a chain not known by name.';
comment on column explorer.chains.native_symbol is 'Symbol of the currency in which the chain counts fees, such as ETH; from the configuration, else the usual one. Null: not known. Two chains whose symbol is not known have two currencies.';
comment on column explorer.chains.native_decimals is 'Decimals of that currency: views divide amounts of the API by 10 to the power of it. By default 18.';
comment on column explorer.chains.explorer_url is 'Where people look at the chain, without a slash at its end; from the configuration, else the usual one. Null: not known.';

comment on table explorer.factories is 'Wallet factories with their number of accounts. Source: /proxy/account-abstraction/factories.';
comment on column explorer.factories.total_accounts is 'Accounts that the factory made, as last read; may fall; API field total_accounts. Null: not reported.';
comment on column explorer.factories.address_hash is 'Whose it is: explorer.addresses.hash; API field address. Lower-case hex with 0x, 20 bytes.';

comment on table explorer.factory_history is 'One row for each change of total_accounts in explorer.factories from one complete ranking to the next.';
comment on column explorer.factory_history.total_accounts is 'explorer.factories.total_accounts in that ranking; API field total_accounts. Null: not reported.';

comment on table explorer.listed_batches is 'One row for each Optimism batch in the list of batches. Source: optimism/batches. Queries go to explorer.optimism_batches.';
comment on column explorer.listed_batches.batch_number is 'Number of the batch; API field number, in older versions internal_id.';
comment on column explorer.listed_batches.l1_timestamp is 'As in explorer.optimism_batches; API field l1_timestamp. Null: not reported.';
comment on column explorer.listed_batches.transactions_count is 'As in explorer.optimism_batches; API field transactions_count, in older versions transaction_count or tx_count. Null: not reported.';
comment on column explorer.listed_batches.l2_start_block_number is 'As in explorer.optimism_batches; API field l2_start_block_number, in older versions l2_block_start. Null: not reported.';
comment on column explorer.listed_batches.l2_end_block_number is 'As in explorer.optimism_batches; API field l2_end_block_number, in older versions l2_block_end. Null: not reported.';
comment on column explorer.listed_batches.batch_data_container is 'As in explorer.optimism_batches. Null: not reported.';

comment on table explorer.optimism_batch_l1_transactions is 'L1 transactions that a batch was posted in. Source: l1_transaction_hashes[], in older versions l1_tx_hashes[].';
comment on column explorer.optimism_batch_l1_transactions.batch_number is 'Whose it is: explorer.listed_batches.batch_number.';
comment on column explorer.optimism_batch_l1_transactions.hash is 'Its hash. Lower-case hex with 0x, 32 bytes. Null: not reported.';

comment on table explorer.paymasters is 'Contracts that paid for user operations, with their counts. Source: /proxy/account-abstraction/paymasters.';
comment on column explorer.paymasters.total_ops is 'User operations that it paid for, as last read; may fall; API field total_ops. Null: not reported.';
comment on column explorer.paymasters.address_hash is 'Whose it is: explorer.addresses.hash; API field address. Lower-case hex with 0x, 20 bytes.';

comment on table explorer.paymaster_history is 'One row for each change of total_ops in explorer.paymasters from one complete ranking to the next.';
comment on column explorer.paymaster_history.total_ops is 'explorer.paymasters.total_ops in that ranking; API field total_ops. Null: not reported.';

comment on table explorer.read_batches is 'One row for each Optimism batch that was walked to its end: what its blocks verify together. Derived from explorer.blocks, not served. Queries go to explorer.optimism_batches.';
comment on column explorer.read_batches.batch_number is 'As in explorer.optimism_batches.';
comment on column explorer.read_batches.state is 'settled, open or empty, as in explorer.optimism_batches, whatever explorer.findings has.';
comment on column explorer.read_batches.blocks_count is 'Blocks that carry this batch''s number.';
comment on column explorer.read_batches.first_height is 'Lowest of their heights. Null: no blocks.';
comment on column explorer.read_batches.last_height is 'Highest of their heights. Null: no blocks.';
comment on column explorer.read_batches.is_contiguous is 'As in explorer.optimism_batches. Null: no blocks.';
comment on column explorer.read_batches.is_linked is 'As in explorer.optimism_batches. Null: no blocks.';
comment on column explorer.read_batches.is_verified is 'As in explorer.optimism_batches, whatever explorer.findings has.';
comment on column explorer.read_batches.walked_at is 'When the walk ended that last changed this row or first recorded it, by the database''s clock.';

comment on table explorer.user_operations is 'User operations of account abstraction (ERC-4337), one row for each hash. Source: /proxy/account-abstraction/operations. That list lacks paymaster, gas and nonce: the event UserOperationEvent in transaction_hash has them, and the API''s /proxy/account-abstraction/operations/{hash}; explorer.paymasters has their counts.';
comment on column explorer.user_operations.hash is 'Its identity; API field hash. Lower-case hex with 0x, 32 bytes.';
comment on column explorer.user_operations.block_number is 'Its block; API field block_number, a string there. Null: not reported, or out of order (in extra).';
comment on column explorer.user_operations.timestamp is 'Time of that block, UTC; API field timestamp. Null: not reported.';
comment on column explorer.user_operations.status is 'Whether it succeeded; API field status. Null: not reported.';
comment on column explorer.user_operations.address_hash is 'Sender, the smart account: explorer.addresses.hash; API field address. Lower-case hex with 0x, 20 bytes. Null: not reported.';
comment on column explorer.user_operations.entry_point_hash is 'Contract that ran it: explorer.addresses.hash; API field entry_point. Lower-case hex with 0x, 20 bytes. Null: not reported.';
comment on column explorer.user_operations.entry_point_version is 'Such as v0.7; API field entry_point_version, free text. Null: not reported.';
comment on column explorer.user_operations.transaction_hash is 'Transaction that included it; API field transaction_hash. Lower-case hex with 0x, 32 bytes. Null: not reported.';
comment on column explorer.user_operations.fee is 'What it cost, in wei: gas price, rounded down, times gas used, so it may be a little low; API field fee. Null: not reported.';
