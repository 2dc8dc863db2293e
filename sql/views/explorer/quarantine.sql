create or replace view explorer.quarantine as
select chain_id, operation, feed, reason, from_block, to_block, first_seen_at, dropped_at, page_id
from etl.quarantine;

comment on view explorer.quarantine is 'Items that could not become rows, without the items: explorer-etl quarantine list shows them.';
comment on column explorer.quarantine.chain_id is 'Number of the chain.';
comment on column explorer.quarantine.operation is 'Name of the operation.';
comment on column explorer.quarantine.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.quarantine.reason is 'The fields that are wrong, and what was expected of them.';
comment on column explorer.quarantine.from_block is 'Lowest block that the item can stand in. Null: not known.';
comment on column explorer.quarantine.to_block is 'Highest block that the item can stand in. Null: not known.';
comment on column explorer.quarantine.first_seen_at is 'When it was first stored.';
comment on column explorer.quarantine.dropped_at is 'When a person dropped it. Null: it waits.';
comment on column explorer.quarantine.page_id is 'Page that first showed it: explorer.provenance.page_id.';
