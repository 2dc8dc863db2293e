create or replace view etl.listing_heads as
select chain_id, lists.operation, (
         select min(batch_number) from etl.batch_listings as listed
         where listed.chain_id = feeds.chain_id and listed.operation = lists.operation and batch_number > (
           -- Nothing confirms a first item, so it can be the one above.
           select top from etl.walks
           where (feed, id) between (feeds.feed, 0) and (feeds.feed, 9223372036854775807)
             and from_head and top is not null
           order by feed desc, id desc
           limit 1
         )
       ) as highest
from etl.feeds
join etl.lists on lists.listed_by = feeds.operation;

comment on view etl.listing_heads is 'The highest number that the newest read of another list can have met: those above it, which an earlier one met, are listed no more.';
