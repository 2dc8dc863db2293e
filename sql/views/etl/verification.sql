create or replace view etl.verification as
-- By pages that went past blocks, or by an end with at most one item.
select feeds.feed, 'no-coverage' as lacks,
       exists (
         select from etl.feed_coverage
         where feed_coverage.feed = feeds.feed and (covered <> '{}' or reached_since is not null)
       ) or exists (
         select from etl.walks
         where walks.feed = feeds.feed
           and walks.state = 'finished'
           and walks.reason is null
           and walks.items <= 1
           and walks.cuts = 0
       ) as is_verified
from etl.feeds
where kind = 'newest-first'
union all
-- By the chain, or, up to a last number, by being read: a few batches lack neighbours.
select feeds.feed, 'no-verified-batch',
       (verified && target_numbers or target_numbers <> '{}' and target_numbers <@ read)
         and feed not in (select feed from etl.unfound_batches)
from etl.feeds
join etl.complete_batches using (feed)
union all
select feeds.feed, 'no-snapshot', exists (
  select from etl.rankings where rankings.feed = feeds.feed
)
from etl.feeds
where kind = 'ranked';

create or replace view etl.verified_ranges as
select feed, from_block as "from", to_block as "to", as_of, newest_as_of
from explorer.coverage
where unit <> 'ranking'
union all
select feed, 1, items, as_of, newest_as_of from etl.complete_rankings;

comment on view etl.verification is 'Whether anything verifies a feed; if nothing does, lacks is the detail of its finding.';
comment on view etl.verified_ranges is 'The verified ranges of each feed, both ends included: blocks, batches, or the ranks of the last ranking, 1 to 0 if it is empty.';
