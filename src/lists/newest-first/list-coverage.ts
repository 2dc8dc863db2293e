import { sql, type SQL } from 'drizzle-orm';
import type { ListCoverage } from '../list.ts';

const shows = sql`exists (
  select from etl.feed_coverage
  where feed_coverage.feed = feeds.feed and (covered <> '{}' or reached_since is not null)
) or exists (
  select from etl.walks
  where walks.feed = feeds.feed
    and walks.state = 'finished'
    and walks.reason is null
    and walks.items <= 1
    and walks.cuts = 0
)`;

/** Verified by pages that went past blocks, or by an end with at most one item. */
export const listCoverage: ListCoverage = {
  shows,
  lacks: 'no-coverage',
  by: 'ranges',
  covered: sql`
    select json_agg(
      json_build_object(
        'from', lower(range), 'to', upper(range) - 1, 'as_of', as_of, 'newest_as_of', newest_as_of
      )
      order by range
    )
    from etl.covered_ranges
    where covered_ranges.feed = feeds.feed
  `,
  notes: sql`select null::jsonb`,
  findings: sql`
    select feed, jsonb_build_object(
      'detail', 'not-downloaded', 'from', lower(gap), 'to', upper(gap) - 1
    ) as finding
    from etl.feed_gaps
  `,
  readsAgain: sql`later.verified @> int8range(item.from_block, item.to_block, '[]')`,
};

/**
 * As SQL: a walk that ended at its stop height is prunable, unless it is the newest of its like:
 * that one shows where the list begins, where the live lane ended and when a rule was followed.
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
    -- It confirms another walk that skips the same items.
    select from etl.pages where pages.walk_id = later.id and (jumped is not null or not is_ordered)
  )
`;
