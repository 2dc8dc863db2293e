create or replace view etl.lane_sums as
select feed, lane,
       sum(pages) as pages,
       sum(inserted) as inserted,
       sum(archived_bytes) as archived_bytes,
       sum(credits) as credits,
       sum(spanned_items) as spanned_items,
       sum(spanned_blocks) as spanned_blocks,
       range_agg(proved) as proved,
       count(checkpoint_of) as running_walks,
       max(last_page_at) as last_page_at,
       min(last_page_at) filter (where checkpoint_of is not null) as oldest_checkpoint_at
from (
  select feed, lane, pages, inserted, archived_bytes, credits, spanned_items, spanned_blocks, proved,
         last_page_at, null::bigint as checkpoint_of
  from etl.lane_totals
  union all
  select feed, lane, pages, inserted, archived_bytes, credits,
         case when cuts = 0 and top > bottom then items else 0 end,
         case when cuts = 0 and top > bottom then top - bottom else 0 end,
         proved, case when pages > 0 then updated_at end, id
  from etl.walks
  where state = 'running'
) as part
group by feed, lane;

comment on view etl.lane_sums is 'What the walks of each lane come to together: those that have ended, and those under way.';
