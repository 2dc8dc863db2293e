import { sql, type SQL } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { feedName } from '../feed.ts';

/*
 * What the list of batches says of their numbers, where the chain's `optimism-batches` is copied too. It
 * reports where to read first, and saves requests; nothing is verified or given up because of it.
 */

/** Numbers above the latest known batch that are requested in one run because the list has them, at most. */
const mostAbove = 1_000;

/** The listed numbers from one on, the lowest first. */
export async function listedFrom(
  tx: Pick<Transaction, 'execute'>,
  chainId: number,
  from: number,
): Promise<readonly number[]> {
  const { rows } = await tx.execute<{ number: number }>(sql`
    select batch_number::float8 as number
    from explorer.listed_batches
    where chain_id = ${chainId} and batch_number >= ${from} and removed_at is null
    order by batch_number
    limit ${mostAbove}
  `);
  return rows.map(({ number }) => number);
}

/** The newest number that is listed, if it is not below another; null where none is. */
export async function newestListed(
  tx: Pick<Transaction, 'execute'>,
  chainId: number,
  from: number,
): Promise<number | null> {
  const { rows } = await tx.execute<{ number: number | null }>(sql`
    select max(batch_number)::float8 as number
    from explorer.listed_batches
    where chain_id = ${chainId} and batch_number >= ${from} and removed_at is null
  `);
  return rows[0]?.number ?? null;
}

/**
 * As SQL: whether a number is not on the list, where that was read whole. It is a gap then, as far as the
 * list knows: read last, since its neighbours may verify it empty without a request.
 */
export const isSupposedHole = (chainId: number, number: SQL) => sql`(
  ${number} <@ coalesce(
    (
      select covered from etl.feed_coverage
      where feed = ${feedName({ chain_id: chainId, operation: 'optimism-batches' })}
    ),
    '{}'
  )
  and not exists (
    select from explorer.listed_batches
    where chain_id = ${chainId} and batch_number = ${number} and removed_at is null
  )
)`;
