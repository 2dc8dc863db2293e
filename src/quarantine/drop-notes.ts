import { sql } from 'drizzle-orm';
import { byKind } from '../lists/by-kind.ts';

/**
 * Items that were dropped from quarantine, of a feed that is a row of `feeds`, as JSON notes; as SQL. One
 * is told of until a walk that began after the last page that served it has read its place to the end
 * and not met it: then the list is not short of it.
 */
export const droppedNotes = sql`
  select jsonb_agg(jsonb_build_object('kind', 'items-dropped', 'items', items))
  from (
    select count(*) as items
    from etl.quarantine as item
    join etl.pages as served on served.id = coalesce(item.last_page_id, item.page_id)
    where item.feed = feeds.feed
      and item.dropped_at is not null
      and not exists (
        select from etl.walks as later
        where later.feed = item.feed
          and later.state = 'finished'
          and later.id > served.walk_id
          and ${byKind(({ proof }) => proof.readsAgain)}
      )
  ) as dropped
  where items > 0
`;
