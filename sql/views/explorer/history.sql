create or replace view explorer.history as
select distinct on (feed) chain_id, operation, feed,
       case when from_block > 0 then from_at end as from_at,
       case when is_cut then to_at end as to_at,
       case when from_block > 0
              then coalesce('not stored before ' || to_char(from_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), 'nothing stored')
            when is_cut
              then coalesce('incomplete after ' || to_char(to_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), 'incomplete') end as caveat,
       complete_from_at
from (
  select *, to_block < last_block as is_cut,
         first_value(
           case when to_block < last_block then 'infinity' when from_block > 0 then coalesce(from_at, 'infinity') end
         ) over (partition by feed order by from_block desc) as complete_from_at
  from (
    select coverage.chain_id, coverage.operation, feed, from_block, to_block, from_at, to_at,
           -- Of the complete ranges, or the last one below the newest item: above them is a gap.
           greatest(max(to_block) over (partition by feed), highest - 1) as last_block
    from explorer.coverage
    join etl.feed_coverage using (feed)
    where unit = 'blocks'
    union all
    select chain_id, operation, feed, 0, 0, null, null, 0
    from etl.feeds
    join etl.feed_coverage using (feed)
    where unit = 'blocks' and is_empty
      and not exists (select from etl.quarantined where quarantined.feed = feeds.feed)
  ) as part
) as covered
order by feed, from_block;

comment on view explorer.history is 'How far back each list of blocks is complete without a gap: what may be called the first of something. A row for each feed of which a part is complete.';
comment on column explorer.history.chain_id is 'Number of the chain.';
comment on column explorer.history.operation is 'Name of the operation.';
comment on column explorer.history.feed is 'Name of the feed, such as 10/user-operations.';
comment on column explorer.history.from_at is 'Time of the first item of the lowest complete range, UTC. Null: the list is complete from its beginning.';
comment on column explorer.history.to_at is 'Time of the last item before the lowest gap above it, UTC. Null: there is no gap above.';
comment on column explorer.history.caveat is 'Why the history is not whole, in words. Null: it is.';
comment on column explorer.history.complete_from_at is 'Time of the first item of the highest complete range, UTC: from then on nothing is missing. infinity: something is, or no item is in it. Null: the list is complete from its beginning.';
