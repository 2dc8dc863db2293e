create or replace view etl.total_findings as
select distinct feed, jsonb_build_object('detail', 'totals-differ') as finding
from etl.lane_totals as kept
full join etl.walk_totals as walked using (feed, lane)
where (
  coalesce(walked.pages, 0), coalesce(walked.inserted, 0), coalesce(walked.archived_bytes, 0),
  coalesce(walked.credits, 0), coalesce(walked.spanned_items, 0),
  coalesce(walked.spanned_blocks, 0), coalesce(walked.proved, '{}')
) is distinct from (
  kept.pages, kept.inserted, kept.archived_bytes, kept.credits, kept.spanned_items,
  kept.spanned_blocks, kept.proved
);

comment on view etl.total_findings is 'Feeds of which etl.lane_totals says something else than their walks, or nothing: somebody has changed one of the two by hand.';
