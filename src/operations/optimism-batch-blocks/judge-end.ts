import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { EndClaim, EndVerdict, NumberedWalk } from '../operation.ts';

/** What is stored around the place where a batch's list is said to end. */
interface Standing extends Record<string, unknown> {
  /** The lowest block that the walk was served; null where it was served none. */
  readonly lowest: number | null;
  /** Stored blocks of the batch below that one. */
  readonly stored_below: number;
  readonly is_proved: boolean;
  /** The batch of the stored block that the lowest one names as its parent. */
  readonly stands_on: number | null;
  /** The nearest lower batch that has blocks. */
  readonly below: number | null;
  /** Whether every number between that one and this was read. */
  readonly is_next: boolean;
}

/**
 * Whether what is stored supports the end of a batch's list.
 *
 * One walk's end proves nothing of a batch: its neighbours do, and the lowest of a range, and the
 * empty numbers below it, are read twice by the feed before they count. So a claim that nothing
 * speaks against is let pass without another request, and asked for once more where something does:
 * stored blocks of the batch are missing, or the batch below is known and does not meet, or a list hardly
 * ends with such a page. What the chain has proved is evidence against the answer itself.
 */
export async function judgeBatchEnd(
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim<NumberedWalk>,
): Promise<EndVerdict> {
  const batch = claim.scope.batch;
  const { lowest, stored_below, is_proved, stands_on, below, is_next } = await standing(db, claim);
  const from = lowest === null ? 'no block' : `no block below ${lowest}`;
  if (is_proved && stored_below > 0) {
    return {
      is: 'contradicted',
      evidence: `batch ${batch} lists ${from}, and ${stored_below} are proved`,
      ask: null,
    };
  }
  if (stored_below > 0) return { is: 'unsupported' };
  if (stands_on !== null && stands_on < batch) return { is: 'supported' };
  if (isOdd(claim)) return { is: 'unsupported' };
  if (lowest === null) return { is: 'supported' };
  // The lower neighbour is read already, and this is not its upper border.
  return { is: below !== null && is_next ? 'unsupported' : 'supported' };
}

/**
 * Whether a list hardly ends like this: by the contract a cursor names an item of the next page, so that no
 * empty one follows it, and a page that is full mostly has one.
 */
const isOdd = ({ rows, quarantined, entry, isFull }: EndClaim) =>
  isFull || (rows.length + quarantined === 0 && entry !== 'head');

async function standing(
  db: Pick<Transaction, 'execute'>,
  { walk_id, chain_id, scope: { batch }, rows: served }: EndClaim<NumberedWalk>,
): Promise<Standing> {
  const page = served
    .flatMap(({ height, row }) => (height === null ? [] : [{ height, parent: row['parent_hash'] }]))
    .toSorted((a, b) => a.height - b.height)[0];
  const { rows } = await db.execute<Standing>(sql`
    with walked as (
      select least(min(bottom), ${page?.height ?? null}::bigint) as lowest
      from etl.pages
      where walk_id = ${walk_id}
    ), parent as (
      select case
               when lowest = ${page?.height ?? null}::bigint then ${page?.parent ?? null}::text
               else (
                 select parent_hash from explorer.blocks where chain_id = ${chain_id} and height = lowest
               )
             end as hash
      from walked
    ), below as (
      select max(batch_number) as number
      from explorer.read_batches
      where chain_id = ${chain_id} and blocks_count > 0 and batch_number < ${batch}
    )
    select lowest::float8 as lowest,
           (
             select count(*) from explorer.blocks
             where chain_id = ${chain_id}
               and optimism_batch_number = ${batch}
               and height < coalesce(lowest, ${Number.MAX_SAFE_INTEGER}::bigint)
           )::float8 as stored_below,
           exists (
             select from explorer.read_batches
             where chain_id = ${chain_id} and batch_number = ${batch} and is_proved
           ) as is_proved,
           (
             select optimism_batch_number from explorer.blocks
             where chain_id = ${chain_id} and height = lowest - 1 and blocks.hash = parent.hash
           )::float8 as stands_on,
           below.number::float8 as below,
           (
             select count(*) from explorer.read_batches
             where chain_id = ${chain_id} and batch_number > below.number and batch_number < ${batch}
           ) = ${batch}::bigint - below.number - 1 as is_next
    from walked, parent, below
  `);
  const [found] = rows;
  if (found === undefined) throw new Error('an aggregate has one row');
  return found;
}
