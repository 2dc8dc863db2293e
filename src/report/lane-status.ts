import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import { kinds } from '../lists/index.ts';
import type { Lane, RunState } from '../lists/tables.ts';
import type { ListUnit } from '../operations/operation.ts';

/** What the tables say of a lane that ever had a run. Times are ISO 8601. */
export interface LaneRecord {
  readonly feed: string;
  readonly lane: Lane;
  /** The newest run. */
  readonly run_id: number;
  readonly run_state: RunState;
  readonly run_opened_at: string;
  readonly reason: string | null;
  /** When a process that was told to stop let go of the run; null: none has since it was taken up. */
  readonly stopped_at: string | null;
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
    with pace as (
      select walks.feed, lane,
             count(*) / greatest(1, extract(epoch from clock_timestamp() - min(fetched_at)))
               as pages_per_second
      from etl.walks
      join etl.pages on walk_id = walks.id and sequence >= walks.pages - ${pacePages}::bigint
      where (state = 'running' or finished_at > now() - ${paceWindow})
        and fetched_at > now() - ${paceWindow}
      group by walks.feed, lane
    )
    select json_build_object(
      'feed', feed,
      'lane', lane,
      'run_id', newest.id,
      'run_state', newest.state,
      'run_opened_at', newest.opened_at,
      'reason', newest.reason,
      'stopped_at', newest.stopped_at,
      'last_success_at', success_at,
      'last_success_age_s', round(extract(epoch from clock_timestamp() - success_at)),
      'last_page_at', last_page_at,
      'last_page_age_s', round(extract(epoch from clock_timestamp() - last_page_at)),
      'pages_per_second', round(pages_per_second, 3)
    ) as record
    from etl.newest_runs as newest
    join etl.feeds using (feed)
    left join etl.lane_sums using (feed, lane)
    left join pace using (feed, lane)
    order by feeds.chain_id, feeds.operation, lane desc
  `);
  return rows.map(({ record }) => record);
}

/** How much of a feed is there, in the terms of its operation. */
export type FeedCoverage =
  | {
      readonly of: 'blocks';
      /** What is counted: blocks, or batches of a list that is ordered by their numbers. */
      readonly unit: ListUnit;
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
  | { readonly of: 'ranking'; readonly as_of: string | null; readonly factories: number };

/** How current and how complete a feed is. */
export interface FeedReach {
  readonly feed: string;
  /** Age of the newest item, of the newest batch's last block, or of the last ranking, in seconds. */
  readonly lag_s: number | null;
  readonly coverage: FeedCoverage;
}

/** The reach of every feed. */
export async function feedReaches(db: Database): Promise<FeedReach[]> {
  const { rows } = await db.execute<{ reach: FeedReach }>(sql`
    select json_build_object('feed', feed, 'lag_s', round(lag_s), 'coverage', coverage) as reach
    from (${sql.join(
      Object.values(kinds).map(
        ({ name, status }) => sql`
          select feeds.feed, reached.lag_s, reached.coverage
          from etl.feeds, lateral (${status.reach}) as reached
          where feeds.kind = ${name}
        `,
      ),
      sql` union all `,
    )}) as reached
  `);
  return rows.map(({ reach }) => reach);
}

/** The feeds that were registered last, as chains of a configuration. */
export async function registeredChains(db: Database): Promise<ChainSettings[]> {
  const { rows } = await db.execute<{
    id: string;
    name: string;
    operations: ChainSettings['operations'];
  }>(sql`
    select chain_id as id, chains.name, json_object_agg(operation, settings) as operations
    from etl.feeds
    join explorer.chains using (chain_id)
    group by chain_id, chains.name
    order by chain_id
  `);
  return rows.map(({ id, name, operations }) => ({ id: Number(id), name, operations }));
}
