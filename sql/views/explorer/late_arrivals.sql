create or replace view explorer.late_arrivals as
select late.chain_id, late.operation,
       case unit when 'blocks' then key end as hash,
       case unit when 'blocks' then height end as block_number,
       key, timestamp, seen_at,
       case when timestamp is not null then greatest(seen_at - timestamp, interval '0') end as lateness,
       page_id
from etl.late_arrivals as late
join etl.feeds using (feed);

comment on view explorer.late_arrivals is 'Items that appeared where their list had been verified complete without them.';
comment on column explorer.late_arrivals.chain_id is 'Number of the chain.';
comment on column explorer.late_arrivals.operation is 'Name of the operation.';
comment on column explorer.late_arrivals.hash is 'Hash of the operation, or key of the bundle. Null: a batch.';
comment on column explorer.late_arrivals.block_number is 'Block in which it appeared. Null: a batch.';
comment on column explorer.late_arrivals.key is 'Key of the item: the hash of an operation, hash and index of a bundle, the number of a batch.';
comment on column explorer.late_arrivals.timestamp is 'Its own time, UTC. Null: not reported.';
comment on column explorer.late_arrivals.seen_at is 'When the walk that first met it began.';
comment on column explorer.late_arrivals.lateness is 'Between its own time and its first observation, so at least as long as it was really late: an overlap of this length would have caught it.';
comment on column explorer.late_arrivals.page_id is 'Page that brought it: explorer.provenance.page_id.';
