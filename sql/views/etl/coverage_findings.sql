create or replace view etl.coverage_findings as
select feed, jsonb_build_object('detail', 'totals-differ') as finding
from etl.coverage as kept
full join etl.ledger_coverage as walked using (feed, lane)
where (
  walked.verified, walked.pages, walked.inserted, walked.archived_bytes, walked.credits,
  walked.spanned_items, walked.spanned_blocks
) is distinct from (
  kept.verified, kept.pages, kept.inserted, kept.archived_bytes, kept.credits, kept.spanned_items,
  kept.spanned_blocks
)
union
select feed, jsonb_build_object('detail', 'totals-differ')
from etl.stored_batches as stored
left join etl.batch_coverage as kept using (feed)
where (stored.read, stored.verified) <> (coalesce(kept.read, '{}'), coalesce(kept.verified, '{}'));

comment on view etl.coverage_findings is 'Feeds whose etl.coverage is missing or differs from their ledger: one of the two was changed by hand.';
