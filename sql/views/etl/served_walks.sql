create or replace view etl.served_walks as
select walk_id, served, first_page, is_whole, lower(span) as lowest, upper(span) - 1 as highest,
       entry is null as is_from_head, (entry ->> 'block_number')::bigint as entered_at,
       is_orderly and (entry is null or not isempty(span)) as is_conclusive
from (
  select walk_id,
         range_agg(heights) as served,
         range_merge(range_agg(heights)) as span,
         (array_agg(cursor_in order by sequence))[1] as entry,
         min(id) as first_page,
         bool_and(heights is not null and is_ordered and quarantined = 0) as is_whole,
         bool_and(
           is_ordered
           -- What was in quarantine and can be read now was served too.
           and etl.width(heights) >= items - repeats
         ) as is_orderly
  from etl.pages
  group by walk_id
) as walked;

comment on view etl.served_walks is 'The heights that each walk of a numbered list was served, and the block of the cursor that it entered at. is_whole: its pages are in order, without an item in quarantine. is_conclusive: such items became rows since, and it was served a block, or began at the head.';
