create or replace function etl.gaps_between(
  lowest bigint, highest bigint, covered int8multirange, under_way int8multirange
) returns table (gap int8range, is_open boolean)
language sql immutable
begin atomic
  select gap, not gap && coalesce(under_way, '{}')
  from unnest(
    int8multirange(int8range(least(coalesce(lowest, 0), coalesce(highest, 0)), coalesce(highest, 0)))
      - coalesce(covered, '{}')
  ) as gap;
end;

create or replace view etl.feed_gaps as
select feed, gap, is_open
from etl.feed_coverage,
     -- Once, not for each gap. Only this: for one feed, the coverage of others is not read.
     lateral (select under_way as under_way_now offset 0) as live,
     etl.gaps_between(reached_since, highest, covered, under_way_now);

comment on view etl.feed_gaps is 'Per feed of a newest-first list, the wanted blocks below the covered top that no walk verifies. Unwanted are those below the place at which a walk went beyond since, and no others. is_open: no live walk is on its way there.';
comment on function etl.gaps_between is 'The blocks from the lowest one to the highest that are not covered, and whether no live walk is on its way there.';
