create or replace view etl.coverage_findings as
select distinct feed, jsonb_build_object('detail', 'totals-differ') as finding
from etl.coverage as kept
full join etl.ledger_coverage as walked using (feed, lane)
where (
  walked.verified, walked.pages, walked.inserted, walked.archived_bytes, walked.credits,
  walked.spanned_items, walked.spanned_blocks
) is distinct from (
  kept.verified, kept.pages, kept.inserted, kept.archived_bytes, kept.credits, kept.spanned_items,
  kept.spanned_blocks
);

comment on view etl.coverage_findings is 'Feeds of which etl.coverage says something else than their ledger, or nothing: somebody has changed one of the two by hand.';
