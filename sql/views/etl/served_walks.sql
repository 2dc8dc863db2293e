create or replace view etl.served_walks as
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
group by walk_id;

comment on view etl.served_walks is 'The heights that each walk of a numbered list was served, and the cursor that it entered at. is_whole: its pages are in order, without an item in quarantine. is_orderly: such items became rows since.';
