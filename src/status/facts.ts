import { sql } from 'drizzle-orm';
import type { maintenance } from '../db/tables.ts';
import { execute, type Database } from '../db/transaction.ts';
import { byKind } from '../lists/index.ts';
import { operationNames } from '../lists/registry.ts';
import { settingsShape } from '../lists/list.ts';
import { laneWork, laneWorkShape, type Workers } from '../sync/workers.ts';
import type { Outage } from './outages.ts';
import { feed, type FeedStatus, lane, type StatusDocument } from './schema.ts';
import { z } from 'zod';

/**
 * The statements behind the status document, each for all feeds. They read in proportion to feeds, today's walks and
 * batches, not to stored pages or items.
 */

/** The pace of a list by its newest items, of `etl.item_paces`; times are seconds since 1970. */
const itemPaceShape = () =>
  z.object({
    /** Newest first. */
    newest: z.array(z.number()),
    usual_s: z.number(),
    /** Without intervals that wrong times may cause. */
    longest_s: z.number(),
  });
export type ItemPace = Readonly<z.infer<ReturnType<typeof itemPaceShape>>>;

/** A feed in the tables: fields of the document, and what the others follow from. Times are ISO 8601. */
const feedRecordShape = () =>
  z.object({
    shown: feed
      .omit({
        label: true,
        state: true,
        rows_today: true,
        newest_item: true,
        poll: true,
        verified: true,
        left: true,
        lanes: true,
      })
      // Null in a list that only a newer version knows, which readers leave out.
      .extend({ unit: z.custom<FeedStatus['unit']>() }),
    poll: feed.shape.poll.pick({ last_at: true, age_s: true }),
    verified: feed.shape.verified.omit({ share: true, basis: true }),
    /** Whether `verified` counts positions: a numbered list has none before its target is known. */
    has_positions: z.boolean(),
    /** Blocks that can contain a quarantined item; 0: it can be anywhere. */
    quarantined_positions: z.number(),
    settings: settingsShape(),
    /** As configured; null: not configured. */
    freshness_s: z.number().nullable(),
    /** When `start` polls its head next; null: none follows its schedule. */
    next_due_at: z.string().nullable(),
    /** When to poll a list next that the explorer does not serve. */
    poll_again_at: z.string().nullable(),
    pace: itemPaceShape().nullable(),
    /** What its kind estimates by. */
    facts: z.unknown(),
  });
export type FeedRecord = Readonly<z.infer<ReturnType<typeof feedRecordShape>>>;

/** As SQL: what the verified ranges of a feed count; null if its kind is unknown. */
export const feedUnit = byKind(({ verifies }) =>
  verifies === 'heights' ? sql`feeds.unit` : sql`${verifies}`,
);

/** As SQL: by chain, then in the order of texts; lists of a newer version come first. */
export const displayOrder = sql`
  feeds.chain_id,
  array_position(${sql.param(operationNames)}::text[], feeds.operation) nulls first
`;

/** As SQL: the fields of the document that need no estimate. */
const shown = sql`
  json_build_object(
    'feed', feeds.feed,
    'chain_id', feeds.chain_id,
    'chain_name', coalesce(chains.name, 'chain-' || feeds.chain_id),
    'host', substring(feeds.origin from '^[a-z]+://([^/]+)'),
    'operation', feeds.operation,
    'kind', feeds.kind,
    'unit', ${feedUnit},
    'sentence', feeds.reason,
    'failure', feeds.failure,
    'rows', rows_before + coalesce(total.rows, 0),
    'pages', coalesce(total.pages, 0),
    'quarantined', coalesce(quarantined.items, 0),
    'schema_drift', (select count(*) from etl.drift where drift.feed = feeds.feed),
    'archived_bytes', coalesce(total.archived_bytes, 0),
    'last_page_at', total.last_page_at,
    'last_success_at', feeds.last_success_at,
    'lag_s', round(extract(epoch from lag)),
    'progress', coalesce(progress, '{"reached": null, "reached_at": null}'),
    'wanted_by', wanted_by,
    'is_wanted', wanted_feeds.is_wanted,
    'paused_since', paused_at
  )
`;

/** Every feed in display order, with the totals of its lanes and the progress of its newest run. */
export const readFeeds = (db: Database) =>
  execute(db).values(feedRecordShape)`/* feeds */
    with total as (
      select feed, sum(inserted) as rows, sum(pages) as pages,
             sum(archived_bytes) as archived_bytes, max(last_page_at) as last_page_at
      from etl.coverage
      group by feed
    ), latest as (
      select distinct on (feed) * from etl.newest_runs order by feed, id desc
    ), known as (
      -- False where a kind says nothing: absence of evidence is open.
      select feed, coalesce(is_verified, false) as is_verified,
             ${byKind(({ facts }) => sql`${facts}::json`)} as facts
      from etl.feeds
      left join etl.verification using (feed)
    )
    select json_build_object(
      'shown', ${shown},
      'poll', json_build_object(
        'last_at', looked_at, 'age_s', round(extract(epoch from clock_timestamp() - looked_at))
      ),
      'verified', json_build_object(
        'is_verified', is_verified,
        'positions', coalesce(positions, 0),
        'gaps', coalesce(gaps, 0),
        'missing', coalesce(missing, 0),
        'batches', batches
      ),
      'has_positions', positions is not null,
      'quarantined_positions', etl.width(places),
      'settings', feeds.settings,
      'freshness_s', extract(epoch from objective),
      'next_due_at', (
        select next_due_at from etl.lanes
        where lanes.feed = feeds.feed and next_due_at is not null
        order by lane desc limit 1
      ),
      'poll_again_at', poll_again_at,
      'pace', pace,
      'facts', facts
    ) as record
    from etl.feeds
    join explorer.freshness using (feed)
    join known using (feed)
    join etl.wanted_feeds using (feed)
    -- A row that was deleted hides no feed.
    left join explorer.chains on chains.chain_id = feeds.chain_id
    left join total using (feed)
    left join etl.quarantined using (feed)
    left join etl.feed_extents using (feed)
    left join etl.item_paces using (feed)
    left join latest using (feed)
    left join etl.run_progress on run_id = latest.id
    order by ${displayOrder}
  `;

/** A lane with at least one run. Times are ISO 8601. */
const laneRecordShape = () =>
  z.object({
    feed: z.string(),
    /** Fields of the document, for the newest run. */
    shown: lane.omit({ state: true, until: true, quiet_s: true }),
    /** Null: no worker has the open run or waits for it. */
    work: laneWorkShape().nullable(),
    /** When a stopped process released the run; null: it has not since it opened the run. */
    stopped_at: z.string().nullable(),
    last_page_age_s: z.number().nullable(),
    /** Rows added since midnight UTC. */
    rows_today: z.number(),
  });
export type LaneRecord = Readonly<z.infer<ReturnType<typeof laneRecordShape>>>;

/** Every lane, the live one of a feed first. */
export const readLanes = (db: Database) =>
  execute(db).values(laneRecordShape)`/* lanes */
    select json_build_object(
      'feed', feed,
      'shown', json_build_object(
        'lane', lane,
        'run_id', newest.id,
        'run_state', newest.state,
        'run_opened_at', newest.opened_at,
        'reason', newest.reason,
        'last_success_at', success_at,
        'last_page_at', last_page_at,
        'pages_per_second', pages_per_second
      ),
      'work', ${laneWork},
      'stopped_at', stopped_at,
      'last_page_age_s', round(extract(epoch from clock_timestamp() - last_page_at)),
      'rows_today', coalesce(rows_today, 0)
    ) as record
    from etl.newest_runs as newest
    left join etl.lanes using (feed, lane)
    left join etl.coverage using (feed, lane)
    left join etl.lane_paces using (feed, lane)
    order by feed, lane desc
  `;

/** What reasons are judged by. */
export interface OverallFacts extends Pick<
  StatusDocument,
  'credits' | 'feeds' | 'deployments' | 'at_rest' | 'names'
> {
  readonly at: Date;
  readonly workers: Workers;
  readonly maintenance: readonly (typeof maintenance.$inferSelect)[];
  readonly outages: readonly Outage[];
}
