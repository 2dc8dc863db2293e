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

comment on view etl.batch_blocks is 'The blocks of each numbered list, under the same names.';
comment on view etl.batch_states is 'What is known of each number of each numbered list.';
comment on view etl.batch_listings is 'The numbers that another list has, of the numbered lists that declare one.';
