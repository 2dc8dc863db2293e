import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/query.ts';
import type { EndClaim, EndVerdict, NumberedWalk } from '../operation.ts';
import { type NumberedList, tablesOf } from './list.ts';

interface Standing extends Record<string, unknown> {
  /** The lowest block that the walk was served; null: none. */
  readonly lowest: number | null;
  /** Stored blocks of the batch below `lowest`. */
  readonly stored_below: number;
  readonly is_verified: boolean;
  /** The batch of the stored block that the lowest one names as its parent. */
  readonly stands_on: number | null;
  /** The nearest lower batch with blocks. */
  readonly below: number | null;
  /** Whether every number between `below` and this one was read. */
  readonly is_next: boolean;
}

/**
 * Whether stored rows support the end of a batch's list: neighbours verify it, so a claim passes
 * unless stored blocks are missing, the batch below does not meet it, or the end is odd.
 */
export async function judgeBatchEnd(
  list: NumberedList,
  db: Queryable,
  claim: EndClaim<NumberedWalk>,
): Promise<EndVerdict> {
  const batch = claim.scope.batch;
  const found = await standing(list, db, claim);
  const { lowest, stored_below, is_verified, stands_on, below, is_next } = found;
  const from = lowest === null ? 'no block' : `no block below ${lowest}`;
  if (is_verified && stored_below > 0) {
    return {
      is: 'contradicted',
      evidence: `batch ${batch} lists ${from}, and ${stored_below} are verified`,
      question: null,
    };
  }
  if (stored_below > 0) return { is: 'unsupported' };
  if (stands_on !== null && stands_on < batch) return { is: 'supported' };
  if (isOdd(claim)) return { is: 'unsupported' };
  if (lowest === null) return { is: 'supported' };
  // The lower neighbour is read already, and this is not its upper border.
  return { is: below !== null && is_next ? 'unsupported' : 'supported' };
}

/** An empty page cannot follow a cursor, which names an item; a full page mostly has a cursor. */
const isOdd = ({ rows, quarantined, entry, isFull }: EndClaim) =>
  isFull || (rows.length + quarantined === 0 && entry !== 'head');

async function standing(
  list: NumberedList,
  db: Queryable,
  { walk_id, chain_id, scope: { batch }, rows: served }: EndClaim<NumberedWalk>,
): Promise<Standing> {
  const page = served
    .flatMap(({ height, row }) => (height === null ? [] : [{ height, parent: row['parent_hash'] }]))
    .toSorted((a, b) => a.height - b.height)[0];
  const { blocks, states, number } = tablesOf(list);
  const { rows } = await db.execute<Standing>(sql`
    with walked as (
      select least(min(bottom), ${page?.height ?? null}::bigint) as lowest
      from etl.pages
      where walk_id = ${walk_id}
    ), parent as (
      select case
               when lowest = ${page?.height ?? null}::bigint then ${page?.parent ?? null}::text
               else (
                 select parent_hash from ${blocks} where chain_id = ${chain_id} and height = lowest
               )
             end as hash
      from walked
    ), below as (
      select max(batch_number) as number
      from ${states}
      where chain_id = ${chain_id} and blocks_count > 0 and batch_number < ${batch}
    )
    select lowest::float8 as lowest,
           (
             select count(*) from ${blocks}
             where chain_id = ${chain_id}
               and ${number} = ${batch}
               and height < coalesce(lowest, ${Number.MAX_SAFE_INTEGER}::bigint)
           )::float8 as stored_below,
           exists (
             select from ${states}
             where chain_id = ${chain_id} and batch_number = ${batch} and is_verified
           ) as is_verified,
           (
             select ${number} from ${blocks} as stored
             where chain_id = ${chain_id} and height = lowest - 1 and stored.hash = parent.hash
           )::float8 as stands_on,
           below.number::float8 as below,
           (
             select count(*) from ${states}
             where chain_id = ${chain_id} and batch_number > below.number and batch_number < ${batch}
           ) = ${batch}::bigint - below.number - 1 as is_next
    from walked, parent, below
  `);
  const [found] = rows;
  if (found === undefined) throw new Error('an aggregate has one row');
  return found;
}
