import { sql, type SQL } from 'drizzle-orm';

/**
 * As SQL: whether a walk that brought nothing, a row `later`, is spare. One that ended at its floor, in
 * order, and is not the newest of its like: the newest reports where the list begins, where the live lane
 * ended, and when a rule of resweeps was last followed, which its interval may want for long.
 */
export const isPrunable = (at: Date): SQL => sql`
  later.reason = 'floor'
  and later.cuts = 0
  and later.is_ordered
  and (
    -- The next of its like, by their ids: a semi-join would hold each walk against all others.
    select true from etl.walks as newer
    where newer.feed = later.feed
      and newer.id > later.id
      and newer.started_at >= later.started_at
      and newer.state = 'finished'
      and newer.reason = 'floor'
      and newer.cuts = 0
      and newer.lane = later.lane
      and newer.from_head = later.from_head
      and (newer.cursor is null) = (later.cursor is null)
      and (newer.top is null) = (later.top is null)
    order by newer.feed, newer.id
    limit 1
  )
  and later.started_at < ${at.toISOString()}::timestamptz - coalesce(
    (
      select max((rule ->> 'everyMs')::float8) * interval '1 millisecond'
      from etl.feeds, jsonb_array_elements(settings -> 'resweep') as rule
      where feeds.feed = later.feed
    ),
    '0'
  )
  and not exists (
    -- Another walk that skips the same items is borne out by it.
    select from etl.pages where pages.walk_id = later.id and (jumped is not null or not is_ordered)
  )
`;
