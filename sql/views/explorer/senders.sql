create or replace view explorer.senders as
select sums.chain_id, address_hash, coalesce(addresses.name, ens_domain_name) as name,
       first_operation_at, last_operation_at, operations, failed,
       fees * ('1e-' || native_decimals)::numeric as fee_native, native_symbol
from etl.sender_sums as sums
left join explorer.chains on chains.chain_id = sums.chain_id
left join explorer.addresses on addresses.chain_id = sums.chain_id and addresses.hash = address_hash;

comment on view explorer.senders is 'Each address that has sent user operations, with their sums. Summed up once a minute, or less often where that costs much: explorer.refreshed says up to when.';
comment on column explorer.senders.chain_id is 'Number of the chain.';
comment on column explorer.senders.address_hash is 'The sender, a smart account: explorer.addresses.hash.';
comment on column explorer.senders.name is 'Its name, else its ENS domain. Null: it has neither.';
comment on column explorer.senders.first_operation_at is 'Time of its first stored operation, UTC: see explorer.history. Null: no time is known.';
comment on column explorer.senders.last_operation_at is 'Time of its last operation, UTC. Null: no time is known.';
comment on column explorer.senders.operations is 'Its operations that are in their list.';
comment on column explorer.senders.failed is 'Those of them that failed.';
comment on column explorer.senders.fee_native is 'Fees of these operations, in the chain''s own currency, exact: native_symbol names it. Null: none is reported.';
comment on column explorer.senders.native_symbol is 'The chain''s own currency. Null: not known.';
