create or replace view etl.complete_rankings as
select feeds.feed, items, as_of, coalesce(began_at, as_of) as newest_as_of
from etl.feeds, lateral (
  select rankings.*, walks.as_of as began_at
  from etl.rankings
  left join etl.walks on walks.id = walk_id
  where rankings.feed = feeds.feed
  order by walk_id desc
  limit 1
) as ranking
where kind = 'ranked'
  -- An item in quarantine can have any rank.
  and not exists (select from etl.quarantined where quarantined.feed = feeds.feed);

comment on view etl.complete_rankings is 'The last ranking of each feed without an item in quarantine, as of when the oldest and the newest of its walks began.';
