import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../../db/transaction.ts';
import { ofFeed, type Feed, type FeedLane } from '../feed.ts';
import type { NumberedScope } from './scope.ts';

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
