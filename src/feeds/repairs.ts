import { sql } from 'drizzle-orm';
import type { ChainSettings } from '../config/settings.ts';
import { assign, tallied, tally } from '../db/digest.ts';
import { type Database, transact } from '../db/transaction.ts';
import { optimismBatches } from '../operations/optimism-batch-blocks/tables.ts';
import type { FeedCertificate } from './certificate.ts';
import { forgetBrokenBatches } from './damage.ts';
import { isProved } from './evidence.ts';
import { feedName, type FeedLane } from './feed.ts';
import { lockEnds } from '../walk/commit.ts';
import { estimateFeeds, type ForecastOptions } from './plan/plan.ts';
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
    } else if (await needsWalk(db, lane)) {
      // A repair closes holes; what is only to be read again has its own time.
      place({ lane, scope: { ...scope, resweep: [] } }, 0);
    }
  }
  return rounds;
}

/** What the batches of nobody's reading have, in pages: 3 to 29 are usual. */
const usualPages = 16;

/**
 * About how many requests the repairs take, from what is stored: batches by the pages that they have, or
 * that batches have on average; lists as `plan` reckons them, where it can.
 */
export async function repairRequests(
  db: Database,
  certificates: readonly FeedCertificate[],
  chains: readonly ChainSettings[],
  how: ForecastOptions,
): Promise<number> {
  const open = new Set(certificates.filter((feed) => feed.open.length > 0).map(({ feed }) => feed));
  let requests = 0;
  for (const { feed, chain_id, operation, history } of await estimateFeeds(db, chains, how)) {
    if (!open.has(feed)) continue;
    requests +=
      operation === 'optimism-batch-blocks'
        ? await batchRequests(db, chain_id, how.pageSize)
        : (history.requests ?? 0);
  }
  return requests;
}

async function batchRequests(db: Database, chainId: number, pageSize: number): Promise<number> {
  const { rows } = await db.execute<{ requests: number }>(sql`
    with wanted as (
      select range_agg(numbers) as numbers from etl.batch_findings where chain_id = ${chainId}
    ), size as (
      select coalesce(avg(ceil(blocks_count::numeric / ${pageSize}::bigint)), ${usualPages}::bigint) as pages
      from explorer.optimism_batches
      where chain_id = ${chainId} and blocks_count > 0
    ), known as (
      select count(*) as numbers,
             coalesce(sum(greatest(1, ceil(blocks_count::numeric / ${pageSize}::bigint))), 0) as pages
      from wanted, explorer.optimism_batches
      where chain_id = ${chainId} and batch_number <@ wanted.numbers
    ), unread as (
      select coalesce(sum(upper(range) - lower(range)), 0) - known.numbers as numbers
      from known, wanted left join lateral unnest(wanted.numbers) as range on true
      group by known.numbers
    )
    select ceil(known.pages + unread.numbers * size.pages)::float8 as requests
    from size, known, unread
  `);
  return rows[0]?.requests ?? 0;
}

async function needsWalk(db: Database, { chain_id, operation }: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from explorer.gaps where chain_id = ${chain_id} and operation = ${operation}
    union all
    select from etl.feeds
    where chain_id = ${chain_id} and operation = ${operation} and not ${isProved}
    union all
    select from etl.reread_findings
    where chain_id = ${chain_id} and operation = ${operation}
  `);
  return rows.length > 0;
}

/** The batches that the certificate finds open, as ranges, the newest first. */
async function batchesToRead(db: Database, chainId: number): Promise<TickScope[]> {
  await forgetBrokenBatches(db);
  const { rows } = await db.execute<{ from_batch: string; to_batch: string }>(sql`
    select lower(range) as from_batch, upper(range) - 1 as to_batch
    from (
      select range_agg(numbers) as numbers from etl.batch_findings where chain_id = ${chainId}
    ) as wanted, unnest(numbers) as range
    order by range desc
  `);
  await withdraw(db, chainId);
  return rows.map((row) => ({
    from_batch: Number(row.from_batch),
    to_batch: Number(row.to_batch),
  }));
}

/** Where rows were changed by hand, what is said to be settled has to be read too. */
async function withdraw(db: Database, chainId: number): Promise<void> {
  const feed = feedName({ chain_id: chainId, operation: 'optimism-batch-blocks' });
  await transact(db, async (tx) => {
    await lockEnds(tx, { feed });
    await tx.execute(sql`
      with withdrawn as (
      update explorer.optimism_batches as batch
      set ${assign(
        optimismBatches,
        { state: sql`'open'`, is_proved: sql`false`, updated_at: sql`now()` },
        'batch',
      )}
      where chain_id = ${chainId}
        and state = 'settled'
        and exists (
          select from etl.batch_findings as finding
          where finding.chain_id = ${chainId} and batch_number <@ numbers
        )
      returning ${sql.raw(tallied('batch'))}
      )
      ${sql.raw(tally(optimismBatches, 'withdrawn'))}
    `);
  });
}
