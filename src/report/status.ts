import type { ListUnit } from '../operations/operation.ts';
import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { byKind } from '../lists/by-kind.ts';
import type { ShownState } from './lane-state.ts';

/** What `status` and the progress lines show of a feed. Times are ISO 8601. */
export interface FeedStatus {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
  readonly state: ShownState;
  readonly reason: string | null;
  /** Rows that the feed has added to its own table. */
  readonly rows: number;
  readonly pages: number;
  readonly quarantined: number;
  /** Ways in which its items differ from the specification. */
  readonly drift: number;
  /** Bytes of archived bodies, compressed. */
  readonly archived_bytes: number;
  readonly running_walks: number;
  /** When a page was committed last, and how long ago, in seconds. */
  readonly last_page_at: string | null;
  readonly last_page_age_s: number | null;
  /** How old the oldest checkpoint of a running walk is, in seconds. */
  readonly checkpoint_age_s: number | null;
  readonly last_success_at: string | null;
  /** The lowest block, or batch of the list of batches, that the current walk has reached, and where it began. */
  readonly reached: {
    readonly top: number | null;
    readonly bottom: number | null;
    readonly unit: ListUnit;
  } | null;
  /** Of the current run's range, where it has an end: numbers in all, and those that were read. */
  readonly batches: { readonly total: number; readonly done: number } | null;
}

/** The status of every feed, in one statement; it reads as much after a year as after a day. */
export async function feedStatus(db: Database): Promise<FeedStatus[]> {
  const { rows } = await db.execute<{ status: FeedStatus }>(sql`
    with total as (
      select feed,
             sum(inserted) as rows,
             sum(pages) as pages,
             sum(archived_bytes) as archived_bytes,
             sum(running_walks) as running_walks,
             max(last_page_at) as last_page_at,
             min(oldest_checkpoint_at) as oldest_checkpoint_at
      from etl.lane_sums
      group by feed
    ), drifted as (
      select feed, count(*) as drift
      from etl.drift
      group by feed
    ), latest as (
      select distinct on (feed) *
      from etl.newest_runs
      order by feed, id desc
    )
    select json_build_object(
      'feed', feeds.feed,
      'chain_id', feeds.chain_id,
      'operation', feeds.operation,
      'state', feeds.state,
      'reason', feeds.reason,
      'rows', coalesce(total.rows, 0),
      'pages', coalesce(total.pages, 0),
      'quarantined', coalesce(quarantined.items, 0),
      'drift', coalesce(drifted.drift, 0),
      'archived_bytes', coalesce(total.archived_bytes, 0),
      'running_walks', coalesce(total.running_walks, 0),
      'last_page_at', total.last_page_at,
      'last_page_age_s', round(extract(epoch from clock_timestamp() - total.last_page_at)),
      'checkpoint_age_s',
        round(extract(epoch from clock_timestamp() - total.oldest_checkpoint_at)),
      'last_success_at', feeds.last_success_at,
      'reached', progress -> 'reached',
      'batches', progress -> 'batches'
    ) as status
    from etl.feeds
    left join total using (feed)
    left join etl.quarantined using (feed)
    left join drifted using (feed)
    left join latest using (feed)
    left join lateral (
      select ${byKind(({ status }) => status.progress)} as progress where latest.id is not null
    ) as told on true
    order by feeds.chain_id, feeds.operation
  `);
  return rows.map(({ status }) => status);
}
