create or replace view etl.batch_blocks as
-- for each numbered list, union all
select '{name}'::text as operation, chain_id, {number} as batch_number, height, hash, parent_hash,
       timestamp, is_pending_update
from {blocks}
-- end
;

create or replace view etl.batch_states as
-- for each numbered list, union all
select '{name}'::text as operation, chain_id, batch_number, state, blocks_count, first_height,
       last_height, is_contiguous, is_linked, is_verified, walked_at
from {states}
-- end
;

create or replace view etl.batch_listings as
-- for each numbered list, union all
select '{name}'::text as operation, chain_id, {listed_number} as batch_number,
       {listed_first} as first_height, {listed_last} as last_height
from {listed}
where removed_at is null
-- end
;

create or replace view etl.listing_heads as
-- for each numbered list, union all
select chain_id, '{name}'::text as operation, (
         select min({listed_number}) from {listed} as listed
         where listed.chain_id = feeds.chain_id and removed_at is null and {listed_number} > (
           -- Nothing confirms a first item, so it can be the one above.
           select top from etl.walks
           where walks.feed = feeds.feed and from_head and top is not null
           order by started_at desc, id desc
           limit 1
         )
       ) as highest
from etl.feeds
where operation = '{listed_operation}'
-- end
;

comment on view etl.batch_blocks is 'The blocks of each numbered list, under the same names.';
comment on view etl.batch_states is 'What is known of each number of each numbered list.';
comment on view etl.batch_listings is 'The numbers that another list has, of the numbered lists that declare one.';
comment on view etl.listing_heads is 'The highest number that the newest read of another list can have met: those above it, which an earlier one met, are listed no more.';
