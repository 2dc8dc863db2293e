import { sql, type SQL } from 'drizzle-orm';
import type { KindStatus, ListCoverage, ListReach } from '../list.ts';
import { isOpen } from './coverage.ts';
import { facts, type ListFacts, listHistory, listUpkeep, nothingKnown } from './estimate.ts';
import { newestFirstSettings, type NewestFirstSettings } from './settings.ts';

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
const coverage: ListCoverage = {
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
const isPrunable = (at: Date): SQL => sql`
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

/** Newest items that show the list's pace: minutes of a busy chain, months of a quiet one. */
const recentItems = 1_000;

/** The lag of the newest item, the blocks that are covered, and those that are not. */
const reach: ListReach = {
  progress: sql`json_build_object('reached', (
    select json_build_object('top', top, 'bottom', bottom)
    from etl.walks
    where run_id = latest.id
    order by id desc
    limit 1
  ), 'reached_at', (
    select timestamp from etl.item_above(feeds.chain_id, feeds.operation, (
      select max(upper(gap)) from etl.feed_gaps where feed_gaps.feed = feeds.feed and ${isOpen}
    ))
  ))`,
  verified: sql`
    select coalesce((
             select sum(upper(range) - lower(range)) from etl.covered_ranges
             where covered_ranges.feed = feeds.feed
           ), 0) as positions,
           count(*) as gaps, coalesce(sum(upper(gap) - lower(gap)), 0) as missing,
           null::jsonb as batches
    from etl.feed_gaps
    where feed_gaps.feed = feeds.feed
  `,
  newestTimes: sql`
    select timestamp
    from etl.items_below(
      feeds.chain_id, feeds.operation, 9223372036854775807, 'infinity', ${recentItems}::int
    )
  `,
};

const parts = sql`
    with known as materialized (
      select feeds.feed, highest as ends,
             coalesce(covered, '{}') as covered,
             (select height from etl.item_above(chain_id, operation, 0)) as lowest_item,
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
             exists (
               select from etl.walks
               where walks.feed = feeds.feed and state = 'finished' and reason is null
             ) as is_end_known
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
    select feed, ends, verified, held_up as quarantined, reading, '{}'::int8multirange as unverified,
           left_out - never_seen as gap, left_out * never_seen as unknown,
           whole - covered - reading - missing as out_of_range,
           coalesce(
             nullif(lower(covered + reading + (left_out - never_seen)), 0),
             lowest_item,
             0
           ) as begins
    from missed
  `;

/** The lowest item at or above each height; at the window's end the highest below it. */
const times = sql`
  select requested.feed, requested."from", requested."to", item.height, item.timestamp
  from requested
  join etl.feeds using (feed), lateral (
    select * from etl.item_above(chain_id, operation, requested.height) where requested.height < requested."to"
    union all
    select * from etl.item_below(chain_id, operation, requested.height, 'infinity')
    where requested.height = requested."to"
  ) as item
  where kind = 'newest-first'
`;

export const newestFirstStatus: KindStatus<NewestFirstSettings, ListFacts> = {
  name: 'newest-first',
  coverage,
  isPrunable,
  covers: (unit) => unit,
  reach,
  ribbon: { parts, times },
  facts,
  settings: newestFirstSettings,
  bounds: ['since', 'maxPages', 'fromBlock', 'toBlock'],
  isBounded: ({ since }) => typeof since === 'string',
  estimate: (known, { since, overlapMs, resweep }, { unit, pageSize, pollsPerDay }) => ({
    history: listHistory(known ?? nothingKnown, { pageSize, since, unit }),
    upkeep: listUpkeep(known ?? nothingKnown, {
      pageSize,
      overlapMs,
      pollsPerDay,
      resweeps: resweep,
    }),
  }),
  examples: { sync: '--since 2026-01-01', backfill: '--since 2023-01-01' },
};
