create or replace view etl.feed_gaps as
select feed, gap, not gap && under_way_now as is_open
from etl.feed_coverage,
     -- Once, not for each gap.
     lateral (select coalesce(under_way, '{}') as under_way_now offset 0) as live,
     unnest(
       int8multirange(int8range(
         least(coalesce(reached_since, 0), coalesce(highest, 0)), coalesce(highest, 0)
       )) - coalesce(covered, '{}')
     ) as gap;

comment on view etl.feed_gaps is 'Per feed of a newest-first list, the wanted blocks below the covered top that no walk verifies. Unwanted are those below the place at which a walk went beyond since, and no others. is_open: no live walk is on its way there.';
