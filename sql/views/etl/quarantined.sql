create or replace view etl.quarantined as
select feed, count(*) as items, range_agg(place) as places
from (
  select feed,
         case
           when kind = 'newest-first' and to_block is not null
             then int8range(least(coalesce(from_block, 0), to_block), to_block, '[]')
           when kind = 'numbered'
             then int8range((scope ->> 'batch')::bigint, (scope ->> 'batch')::bigint, '[]')
           -- It can stand anywhere.
           else int8range(null, null)
         end as place
  from etl.quarantine
  join etl.feeds using (feed)
  where dropped_at is null
) as item
group by feed;

comment on view etl.quarantined is 'Per feed, the items in quarantine, and the blocks or batches that can contain them, none of which counts as complete.';
