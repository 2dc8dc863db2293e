import { sql } from 'drizzle-orm';
import { assign, tallied, tally } from '../../db/digest.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { EndClaim, EndVerdict, OrderKey, WalkEndContext } from '../operation.ts';
import { tokenAt } from '../page-token.ts';
import { userOperations } from './tables.ts';

/** Above every place of a list: what is below it is all there is. */
const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** As SQL: stored operations below a place, which no page has said to have left the list. */
const listedBelow = (chainId: number, { height, key }: OrderKey) => sql`
  chain_id = ${chainId}
  and block_number <= ${height}
  and (block_number, hash) < (${height}, ${key})
  and removed_at is null
`;

/** As SQL: written by a page in order. One that a page out of order wrote may stand at a wrong block. */
const isWitness = sql`not exists (
  select from etl.pages where pages.id = t.page_id and not is_ordered
)`;

/** The list can't end where stored operations stand below. */
export async function judgeListEnd(
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { last, entry, rows: served } = claim;
  // A page of which no item has a place ends nothing that would be proved.
  if (last === null && served.length > 0) return { is: 'unsupported' };
  const asked = typeof entry === 'string' ? await lastOfWalk(db, claim) : atOrBelow(entry);
  const end = last ?? asked ?? (entry === 'head' ? aboveAll : null);
  if (end === null) return { is: 'unsupported' };
  const { rows } = await db.execute<{ height: string; key: string }>(sql`
    select block_number as height, hash as key
    from explorer.user_operations as t
    where ${listedBelow(claim.chain_id, end)}
      and ${isWitness}
      and hash <> all(${sql.param(claim.rows.map(({ key }) => key))}::text[])
    order by block_number desc, hash desc
    limit 1
  `);
  const [below] = rows;
  if (below === undefined) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  const at = { height: Number(below.height), key: below.key };
  const where = end === aboveAll ? 'it is empty' : `it ends at block ${end.height}`;
  return {
    is: 'contradicted',
    evidence: `${where}, but operations are stored below, the next in block ${at.height}`,
    ask: tokenAt(at),
  };
}

/** Whether the list was found to end at this block before, which was believed then. */
async function wasEnd(
  db: Pick<Transaction, 'execute'>,
  { walk_id, chain_id }: EndClaim,
  last: OrderKey | null,
): Promise<boolean> {
  if (last === null) return false;
  const { rows } = await db.execute(sql`
    select from etl.walks
    where chain_id = ${chain_id}
      and operation = 'user-operations'
      and state = 'finished'
      and reason is null
      and cuts = 0
      and bottom = ${last.height}
      and id <> ${walk_id}
    limit 1
  `);
  return rows.length > 0;
}

/** Where the walk's pages before this one ended; null where none tells its place. */
async function lastOfWalk(
  db: Pick<Transaction, 'execute'>,
  { walk_id }: Pick<EndClaim, 'walk_id'>,
): Promise<OrderKey | null> {
  const { rows } = await db.execute<{ height: string; key: string }>(sql`
    select bottom as height, last_key as key
    from etl.pages
    where walk_id = ${walk_id} and last_key is not null and bottom is not null
    order by sequence desc
    limit 1
  `);
  const [row] = rows;
  return row === undefined ? null : { height: Number(row.height), key: row.key };
}

/** The position that was asked for is that of the page's own first item, so what stands there is below, too. */
const atOrBelow = ({ height, key }: OrderKey): OrderKey => ({ height, key: `${key}~` });

/**
 * Where the end is believed, what is stored below it has left the list: the service was asked for it at its
 * own position.
 */
export async function removeBelow(tx: Transaction, walk: WalkEndContext): Promise<null> {
  if (!walk.isUnbroken) return null;
  const end = (await lastOfWalk(tx, walk)) ?? aboveAll;
  await tx.execute(sql`
    with removed as (
      update explorer.user_operations as t
      set ${assign(userOperations, {
        removed_at: sql`now()`,
        updated_at: sql`now()`,
        page_id: sql`${walk.page_id}::bigint`,
      })}
      where ${listedBelow(walk.chain_id, end)} and page_id < ${walk.page_id}
      returning ${sql.raw(tallied())}
    )
    ${sql.raw(tally(userOperations, 'removed'))}
  `);
  return null;
}
