create or replace view etl.ledger_coverage as
select feed, lane,
       coalesce(range_agg(verified), '{}') as verified,
       max(last_page_at) filter (where verified <> '{}') as verified_at,
       sum(pages)::bigint as pages,
       sum(inserted)::bigint as inserted,
       sum(archived_bytes)::bigint as archived_bytes,
       sum(credits)::bigint as credits,
       sum(spanned_items)::bigint as spanned_items,
       sum(spanned_blocks)::bigint as spanned_blocks,
       max(last_page_at) as last_page_at
from (
  select feed, lane, verified, coalesce(entries.pages, 0) as pages, inserted, archived_bytes, credits,
         case when cuts = 0 and top > bottom then items else 0 end as spanned_items,
         case when cuts = 0 and top > bottom then top - bottom else 0 end as spanned_blocks,
         updated_at as last_page_at
  from etl.walks
  left join (
    select walk_id, count(*) as pages from etl.pages group by walk_id
  ) as entries on walk_id = walks.id
  where walks.pages > 0 or verified <> '{}'
  union all
  select feed, lane, verified, pages, 0, 0, credits, spanned_items, spanned_blocks, null
  from etl.pruned
) as part
group by feed, lane;

comment on view etl.ledger_coverage is 'What etl.coverage must be: the walks and pages of the ledger, added up one by one, and what was pruned out of it.';
