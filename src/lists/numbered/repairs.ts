import { sql } from 'drizzle-orm';
import { type Database, transact } from '../../db/transaction.ts';
import { feedName, lockEnds, type Feed } from '../feed.ts';
import type { NumberedScope } from './scope.ts';

/** Pages of a batch that was never read: 3 to 29 are usual. */
const usualPages = 16;

/**
 * About how many requests the repairs take, from what is stored: batches by the pages that they have,
 * or that batches have on average.
 */
export async function batchRequests(
  db: Database,
  chainId: number,
  pageSize: number,
): Promise<number> {
  const { rows } = await db.execute<{ requests: number }>(sql`
    with wanted as (
      select range_agg(numbers) as numbers from etl.batch_findings where chain_id = ${chainId}
    ), size as (
      select coalesce(avg(ceil(blocks_count::numeric / ${pageSize}::bigint)), ${usualPages}::bigint) as pages
      from explorer.read_batches
      where chain_id = ${chainId} and blocks_count > 0
    ), known as (
      select count(*) as numbers,
             coalesce(sum(greatest(1, ceil(blocks_count::numeric / ${pageSize}::bigint))), 0) as pages
      from wanted, explorer.read_batches
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

/** The batches that the coverage finds open, as ranges, the newest first. */
export async function batchesToRead(db: Database, feed: Feed): Promise<readonly NumberedScope[]> {
  await forgetBrokenBatches(db, feed.chain_id);
  const { rows } = await db.execute<{ from_batch: string; to_batch: string }>(sql`
    select lower(range) as from_batch, upper(range) - 1 as to_batch
    from (
      select range_agg(numbers) as numbers from etl.batch_findings where chain_id = ${feed.chain_id}
    ) as wanted, unnest(numbers) as range
    order by range desc
  `);
  await withdraw(db, feed);
  return rows.map((row) => ({
    from_batch: Number(row.from_batch),
    to_batch: Number(row.to_batch),
  }));
}

/** Where rows were changed by hand, what is said to be settled has to be read too. */
async function withdraw(db: Database, feed: Feed): Promise<void> {
  const { chain_id: chainId } = feed;
  await transact(db, async (tx) => {
    await lockEnds(tx, { feed: feedName(feed) });
    await tx.execute(sql`
      update explorer.read_batches as batch
      set state = 'open', is_proved = false, updated_at = now()
      where chain_id = ${chainId}
        and state = 'settled'
        and exists (
          select from etl.batch_findings as finding
          where finding.chain_id = ${chainId} and batch_number <@ numbers
        )
    `);
  });
}

/**
 * Makes batches unread whose blocks are not those that were read: a flag that says so would be
 * trusted by the next reading, which would then stop at the first block that it knows.
 */
async function forgetBrokenBatches(db: Database, chainId: number): Promise<void> {
  await transact(db, async (tx) => {
    const { rows } = await tx.execute(sql`
      select from etl.block_findings where chain_id = ${chainId} limit 1
    `);
    if (rows.length === 0) return;
    await tx.execute(sql`lock table etl.walks in exclusive mode`);
    await tx.execute(sql`
      delete from explorer.read_batches as batch
      using etl.block_findings as finding
      where batch.chain_id = ${chainId}
        and finding.chain_id = batch.chain_id
        and batch_number <@ numbers
    `);
  });
}
