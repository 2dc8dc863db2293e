import { sql } from 'drizzle-orm';
import type { ChainSettings, SettingsByOperation } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import type { Lane } from '../walk/tables.ts';
import type { TickState } from './tables.ts';

/** What the tables say of a lane that ever had a tick. Times are ISO 8601. */
export interface LaneRecord {
  readonly feed: string;
  readonly lane: Lane;
  /** The newest tick. */
  readonly tick_id: number;
  readonly tick_state: TickState;
  readonly tick_opened_at: string;
  readonly reason: string | null;
  readonly last_success_at: string | null;
  readonly last_success_age_s: number | null;
  readonly last_page_at: string | null;
  readonly last_page_age_s: number | null;
  /** Of the last minutes; null where none was read in them. */
  readonly pages_per_second: number | null;
}

/** Over how long the pages of a lane are counted to tell its pace; as SQL. */
const paceWindow = sql`interval '5 minutes'`;
/** A walk's newest pages that are looked at for that: more than any rate reads in the window. */
const pacePages = 20_000;

/** The record of every lane, the live one of a feed first. */
export async function laneRecords(db: Database): Promise<LaneRecord[]> {
  const { rows } = await db.execute<{ record: LaneRecord }>(sql`
    with newest as (
      select distinct on (chain_id, operation, lane) *
      from etl.ticks
      order by chain_id, operation, lane, id desc
    ), success as (
      select chain_id, operation, lane, max(closed_at) as at
      from etl.ticks
      where state = 'finished'
      group by chain_id, operation, lane
    ), page as (
      select chain_id, operation, lane, max(updated_at) as at
      from etl.walks
      where pages > 0
      group by chain_id, operation, lane
    ), pace as (
      select chain_id, operation, lane,
             count(*) / greatest(1, extract(epoch from clock_timestamp() - min(fetched_at)))
               as pages_per_second
      from etl.walks
      join etl.pages on walk_id = walks.id and sequence >= walks.pages - ${pacePages}::bigint
      where updated_at > now() - ${paceWindow} and fetched_at > now() - ${paceWindow}
      group by chain_id, operation, lane
    )
    select json_build_object(
      'feed', feeds.feed,
      'lane', lane,
      'tick_id', newest.id,
      'tick_state', newest.state,
      'tick_opened_at', newest.opened_at,
      'reason', newest.reason,
      'last_success_at', success.at,
      'last_success_age_s', round(extract(epoch from clock_timestamp() - success.at)),
      'last_page_at', page.at,
      'last_page_age_s', round(extract(epoch from clock_timestamp() - page.at)),
      'pages_per_second', round(pages_per_second, 3)
    ) as record
    from newest
    join etl.feeds using (chain_id, operation)
    left join success using (chain_id, operation, lane)
    left join page using (chain_id, operation, lane)
    left join pace using (chain_id, operation, lane)
    order by chain_id, operation, lane desc
  `);
  return rows.map(({ record }) => record);
}

/** How much of a feed is there, in the terms of its operation. */
export type FeedCoverage =
  | {
      readonly of: 'blocks';
      readonly covered: number;
      readonly gaps: number;
      readonly missing: number;
    }
  | {
      readonly of: 'batches';
      readonly read: number;
      readonly settled: number;
      /** The newest number that is known to have blocks. */
      readonly newest: number | null;
    }
  | { readonly of: 'census'; readonly as_of: string | null; readonly factories: number };

/** How current and how complete a feed is. */
export interface FeedReach {
  readonly feed: string;
  /** Age of the newest item, of the newest batch's last block, or of the last census, in seconds. */
  readonly lag_s: number | null;
  readonly coverage: FeedCoverage;
}

/** The reach of every feed. */
export async function feedReaches(db: Database): Promise<FeedReach[]> {
  const { rows } = await db.execute<{ reach: FeedReach }>(sql`
    with listed as (
      select feed, extract(epoch from lag) as lag_s, json_build_object(
        'of', 'blocks',
        'covered', (
          select coalesce(sum(to_block - from_block + 1), 0) from explorer.coverage
          where coverage.feed = freshness.feed
        ),
        'gaps', (select count(*) from explorer.gaps where gaps.feed = freshness.feed),
        'missing', (
          select coalesce(sum(to_block - from_block + 1), 0) from explorer.gaps
          where gaps.feed = freshness.feed
        )
      ) as coverage
      from explorer.freshness
      where operation = 'user-operations'
    ), batched as (
      select feed, extract(epoch from clock_timestamp() - (
        select timestamp from explorer.blocks
        where blocks.chain_id = feeds.chain_id and height = (
          select last_height from explorer.optimism_batches as batch
          where batch.chain_id = feeds.chain_id and blocks_count > 0
          order by batch_number desc
          limit 1
        )
      )) as lag_s, (
        select json_build_object(
          'of', 'batches',
          'read', count(*),
          'settled', count(*) filter (where state = 'settled'),
          'newest', feeds.frontier
        )
        from explorer.optimism_batches as batch
        where batch.chain_id = feeds.chain_id
      ) as coverage
      from etl.feeds
      where operation = 'optimism-batch-blocks'
    ), counted as (
      select feeds.feed, extract(epoch from clock_timestamp() - census.at) as lag_s,
             json_build_object('of', 'census', 'as_of', census.at, 'factories', (
               select count(*) from explorer.factories
               where factories.chain_id = feeds.chain_id and rank is not null
             )) as coverage
      from etl.feeds
      left join lateral (
        select max(started_at) as at from etl.walks
        where walks.feed = feeds.feed and state = 'finished' and reason is null
      ) as census on true
      where operation = 'factories'
    )
    select json_build_object('feed', feed, 'lag_s', round(lag_s), 'coverage', coverage) as reach
    from (
      select * from listed
      union all
      select * from batched
      union all
      select * from counted
    ) as reached
  `);
  return rows.map(({ reach }) => reach);
}

/** The feeds that were registered last, as chains of a configuration. */
export async function registeredChains(db: Database): Promise<ChainSettings[]> {
  const { rows } = await db.execute<{
    id: string;
    name: string;
    operations: Partial<SettingsByOperation>;
  }>(sql`
    select chain_id as id, chains.name, json_object_agg(operation, settings) as operations
    from etl.feeds
    join explorer.chains using (chain_id)
    group by chain_id, chains.name
    order by chain_id
  `);
  return rows.map(({ id, name, operations }) => ({ id: Number(id), name, operations }));
}
