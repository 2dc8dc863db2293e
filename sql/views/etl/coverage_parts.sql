create or replace view etl.coverage_parts as
with known as materialized (
  select feeds.feed, highest as ends,
         coalesce(covered, '{}') as covered,
         (select height from etl.items_above(chain_id, operation, 0)) as lowest_item,
         coalesce((
           select range_agg(gap) from etl.feed_gaps where feed_gaps.feed = feeds.feed
         ), '{}') as missing,
         coalesce((
           select places from etl.quarantined where quarantined.feed = feeds.feed
         ), '{}') as held,
         coalesce((
           select range_agg(int8range(least(coalesce(floor, bottom), bottom), top, '[]'))
           from etl.walks
           join etl.runs on runs.id = walks.run_id and runs.state = 'open'
           where walks.feed = feeds.feed and walks.state = 'running' and bottom <= top
         ), '{}') as under_way,
         -- In the order of an index: of a feed with few of them, exists would read all walks for one.
         (
           select true from etl.walks
           where walks.feed = feeds.feed and state = 'finished' and reason is null
           order by bottom, id
           limit 1
         ) is not null as is_end_known
  from etl.feeds
  join etl.feed_coverage using (feed)
), divided as (
  select *, covered - held as verified, covered * held as held_up,
         int8multirange(int8range(0, ends)) as whole,
         under_way * int8multirange(int8range(0, ends)) - covered as reading
  from known
  where ends > 0
), missed as (
  select *, missing - reading as left_out,
         -- Where nothing was ever read there may be nothing to miss.
         case when not is_end_known and missing @> 0::bigint
              then int8multirange(int8range(0, coalesce(lowest_item, ends - 1), '[]')) else '{}' end
           as never_seen
  from divided
)
select feed,
       coalesce(nullif(lower(covered + reading + (left_out - never_seen)), 0), lowest_item, 0) as begins,
       ends, verified, left_out - never_seen as gap, held_up as quarantined, reading,
       '{}'::int8multirange as unverified, left_out * never_seen as unknown,
       whole - covered - reading - missing as out_of_range
from missed
union all
select feed, begins, ends, verified, gap, quarantined, reading, unverified, unknown, out_of_range
from etl.batch_parts;

comment on view etl.coverage_parts is 'What there is of each list with positions, from where it begins to where it ends (exclusive), as a multirange for each state. verified. gap: wanted, and missing or unconfirmed. quarantined: verified but for an item in quarantine. reading: a walk is under way there. unverified: read, and not verified yet. unknown: below all that was read, where the list may end. out_of_range: not wanted. The multiranges of a feed are disjoint and cover all below ends. The cost is bounded, however long the history.';
