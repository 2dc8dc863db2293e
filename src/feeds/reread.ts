import { sql, type SQL } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';
import type { KnownBlock } from '../operations/operation.ts';
import { isBegun, isUnderWay, walkOf } from './begun.ts';
import { latestStart } from './clock.ts';
import type { Feed } from './feed.ts';
import type { PlannedWalk } from './segments.ts';
import type { TickRow } from './tick.ts';

/**
 * How long a batch rests that is not proved: as long as lay between its first and its last read, so
 * that intervals double, and within these bounds. Ten minutes are what a new block awaits its update
 * for, a day keeps a batch that is never mended at one read a day.
 */
const shortestRest = '10 minutes';
const longestRest = '1 day';

/**
 * As SQL: whether as much time has passed since the last of some walks as lay between the first and
 * the last, in bounds; true where there were none. Walks of a clock that ran ahead are none, or all
 * would rest until it is that late.
 */
export const hasRested = (walks: SQL, at: Date) => sql`(
  select coalesce(
    max(started_at) + least(
      greatest(max(started_at) - min(started_at), ${shortestRest}::interval), ${longestRest}::interval
    ) <= ${at.toISOString()}::timestamptz,
    true
  )
  from etl.walks
  where ${walks} and started_at <= ${latestStart(at)}
)`;

/** Which batches that were read and are not proved are to be read again. */
export interface RereadRange extends Feed {
  readonly from: number;
  readonly to: number;
}

/** As SQL, over rows of `batch`: not proved, in range, and rested unless all are wanted at once. */
const isDue = ({ chain_id, operation, from, to }: RereadRange, at: Date | 'at-once') => sql`
  batch.chain_id = ${chain_id}
  and not is_proved
  and batch_number between ${from} and ${to}
  ${
    at === 'at-once'
      ? sql``
      : sql`and ${hasRested(
          sql`walks.batch = batch_number
            and walks.chain_id = ${chain_id}
            and walks.operation = ${operation}`,
          at,
        )}`
  }
`;

/** Whether a batch of the range is to be read again. */
export async function hasReread(
  db: Database,
  range: RereadRange,
  at: Date | 'at-once',
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from explorer.optimism_batches as batch where ${isDue(range, at)} limit 1
  `);
  return rows.length > 0;
}

/** The newest batch of the range that is to be read again and that this tick has not begun. */
export async function planReread(
  tx: Transaction,
  tick: TickRow,
  range: RereadRange,
  at: Date | 'at-once',
): Promise<PlannedWalk | null> {
  const { rows } = await tx.execute<{ batch: number }>(sql`
    select batch_number::float8 as batch
    from explorer.optimism_batches as batch
    where ${isDue(range, at)}
      and not ${isBegun(tick, sql`batch_number`)}
      and not ${isUnderWay(tick, sql`batch_number`)}
    order by batch_number desc
    limit 1
  `);
  const [next] = rows;
  if (next === undefined) return null;
  const known = await knownBlock(tx, tick.chain_id, next.batch);
  return walkOf(next.batch, known === null ? {} : { known });
}

/**
 * The block down to which a batch need only be read: where it is a chain in itself and meets the
 * batch below, what can still come is above, or announced by a block that awaits an update. Null: it
 * is to be read whole.
 */
async function knownBlock(
  tx: Transaction,
  chainId: number,
  batch: number,
): Promise<KnownBlock | null> {
  const { rows } = await tx.execute<{ height: number; hash: string }>(sql`
    select block.height::float8 as height, block.hash
    from explorer.optimism_batches as batch
    left join lateral (
      select batch_number, last_height
      from explorer.optimism_batches as below
      where below.chain_id = ${chainId} and blocks_count > 0 and batch_number < ${batch}
      order by batch_number desc
      limit 1
    ) as below on true
    left join lateral (
      select min(height) as height
      from explorer.blocks
      where chain_id = ${chainId} and optimism_batch_number = ${batch} and is_pending_update
    ) as pending on true
    join explorer.blocks as block
      on block.chain_id = ${chainId}
      and block.optimism_batch_number = ${batch}
      and block.height = coalesce(pending.height - 1, batch.last_height)
    where batch.chain_id = ${chainId}
      and batch.batch_number = ${batch}
      and is_contiguous
      and is_linked
      and etl.batches_meet(${chainId}, below.last_height, batch.first_height)
  `);
  return rows[0] ?? null;
}
