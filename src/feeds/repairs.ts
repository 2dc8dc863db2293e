import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FeedCertificate } from './certificate.ts';
import { neverWalkedWhole } from './coverage.ts';
import { feedName, type FeedLane } from './feed.ts';
import type { TickScope } from './tables.ts';

/** A lane to walk, and what of it. */
export interface Repair {
  readonly lane: FeedLane;
  readonly scope: TickScope;
}

/**
 * The walks that the certificates call for, and no others: the holes of a list, the batches that
 * are unread or do not meet, a census that was never finished. Quarantine is none of them: reading
 * a bad item again does not mend it.
 *
 * @param lanes the configured lanes with what a tick of each covers
 * @returns rounds: a lane takes one scope at a time, so a lane's second range is in a second round
 */
export async function repairsOf(
  db: Database,
  certificates: readonly FeedCertificate[],
  lanes: readonly Repair[],
): Promise<Repair[][]> {
  const open = new Set(
    certificates.filter((feed) => feed.open.length > 0).map((feed) => feed.feed),
  );
  const rounds: Repair[][] = [];
  const place = (repair: Repair, round: number) => (rounds[round] ??= []).push(repair);
  for (const { lane, scope } of lanes) {
    if (lane.lane !== 'backfill' || !open.has(feedName(lane))) continue;
    if (lane.operation === 'optimism-batch-blocks') {
      const ranges = await batchesToRead(db, lane.chain_id);
      for (const [round, range] of ranges.entries()) place({ lane, scope: range }, round);
    } else if (await needsWalk(db, lane)) place({ lane, scope }, 0);
  }
  return rounds;
}

async function needsWalk(db: Database, { chain_id, operation }: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feed_coverage
    where chain_id = ${chain_id} and operation = ${operation}
      and (
        (highest is null and ${neverWalkedWhole(sql`feed_coverage`)})
        or exists (
          select from explorer.gaps
          where gaps.chain_id = feed_coverage.chain_id
            and gaps.operation = feed_coverage.operation
        )
      )
    union all
    select from etl.feeds
    where chain_id = ${chain_id} and operation = ${operation} and operation = 'factories'
      and ${neverWalkedWhole(sql`feeds`)}
  `);
  return rows.length > 0;
}

/** Batches that are unread, broken inside, at a broken border, or hold a block that will change. */
async function batchesToRead(db: Database, chainId: number): Promise<TickScope[]> {
  const { rows } = await db.execute<{ from_batch: string; to_batch: string }>(sql`
    with asked as (
      select distinct number
      from etl.ticks
      join etl.feeds using (chain_id, operation),
           generate_series(
             (scope ->> 'from_batch')::bigint,
             coalesce((scope ->> 'to_batch')::bigint, frontier)
           ) as number
      where chain_id = ${chainId} and operation = 'optimism-batch-blocks'
    ), wanted as (
      select number from asked
      where not exists (
        select from explorer.optimism_batches
        where chain_id = ${chainId} and batch_number = number
      )
      union
      select batch_number from explorer.optimism_batches
      where chain_id = ${chainId} and (is_contiguous and is_linked) is false
      union
      select unnest(array[lower_batch, upper_batch]) from explorer.broken_borders
      where chain_id = ${chainId}
      union
      select optimism_batch_number from explorer.blocks
      where chain_id = ${chainId} and is_pending_update and optimism_batch_number is not null
    )
    select lower(range) as from_batch, upper(range) - 1 as to_batch
    from (select unnest(range_agg(int8range(number, number + 1))) as range from wanted) as ranges
    order by range desc
  `);
  return rows.map((row) => ({
    from_batch: Number(row.from_batch),
    to_batch: Number(row.to_batch),
  }));
}
