create or replace view etl.walk_totals as
select feed, lane, sum(pages)::bigint as pages, sum(inserted)::bigint as inserted,
       sum(archived_bytes)::bigint as archived_bytes, sum(credits)::bigint as credits,
       sum(spanned_items)::bigint as spanned_items, sum(spanned_blocks)::bigint as spanned_blocks,
       coalesce(range_agg(proved), '{}') as proved,
       max(last_page_at) as last_page_at
from (
  select feed, lane, pages, inserted, archived_bytes, credits,
         case when cuts = 0 and top > bottom then items else 0 end as spanned_items,
         case when cuts = 0 and top > bottom then top - bottom else 0 end as spanned_blocks,
         proved, case when pages > 0 then updated_at end as last_page_at
  from etl.walks
  where state <> 'running'
  union all
  select feed, lane, pages, 0, 0, credits, spanned_items, spanned_blocks, '{}', null
  from etl.thinnings
) as walked
group by feed, lane;

comment on view etl.walk_totals is 'What etl.lane_totals must be: the ended walks of each lane, added up one by one, and those that were pruned out, which verify nothing here.';
