import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../../db/transaction.ts';
import { type Feed, type FeedLane, feedName, lockEnds, ofFeed } from '../feed.ts';
import type { NumberedScope } from './walks.ts';

/** Notes the batches that a run asks for, beside those that are requested already. */
export async function noteTarget(
  tx: Transaction,
  lane: FeedLane,
  scope: NumberedScope,
): Promise<void> {
  const range = rangeOf(scope);
  if (range === null) return;
  await tx.execute(sql`
    update etl.feeds
    set asked = asked + int8multirange(${range}::int8range)
    where ${ofFeed(lane)} and not asked @> ${range}::int8range
  `);
}

/**
 * Makes what is requested what is wanted now: by the configuration, or by a command's flags where there
 * is none. What was requested before and never read is requested no longer. What was read stays, so
 * that it is still verified, from the lowest batch on that is verified: below it nothing more is read.
 */
export async function reconcileTarget(
  db: Database,
  feed: Feed,
  scopes: readonly NumberedScope[],
): Promise<void> {
  const ranges = scopes.flatMap((scope) => rangeOf(scope) ?? []);
  if (ranges.length === 0) return;
  const { chain_id: chainId } = feed;
  await db.execute(sql`
    with wanted as (
      select range_agg(range) as numbers from unnest(${sql.param(ranges)}::int8range[]) as range
    ), other as (
      select asked - numbers as numbers from etl.feeds, wanted where ${ofFeed(feed)}
    ), fragment as (
      select unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
      from other, explorer.read_batches
      where not isempty(numbers) and chain_id = ${chainId} and batch_number <@ numbers
    ), kept as (
      select range_agg(int8range(lowest, upper(range))) as numbers
      from fragment, lateral (
        select min(batch_number) as lowest
        from explorer.read_batches
        where chain_id = ${chainId}
          and batch_number >= lower(range)
          and batch_number < upper(range)
          and is_proved
      ) as proved
      where lowest is not null
    )
    update etl.feeds
    set asked = wanted.numbers + coalesce(kept.numbers, '{}')
    from wanted, kept
    where ${ofFeed(feed)} and asked <> wanted.numbers + coalesce(kept.numbers, '{}')
  `);
}

/** The batches of a scope as a range in the spelling of Postgres; null where it names none. */
function rangeOf({ from_batch, to_batch }: NumberedScope): string | null {
  if (from_batch === undefined || (to_batch !== undefined && to_batch < from_batch)) return null;
  return `[${from_batch},${to_batch === undefined ? '' : to_batch + 1})`;
}

/** Pages of a batch that was never read: 3 to 29 are usual. */
const unreadPages = 16;

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
      select coalesce(avg(ceil(blocks_count::numeric / ${pageSize}::bigint)), ${unreadPages}::bigint) as pages
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
