import { sql } from 'drizzle-orm';
import { assign, tallied, tally } from '../db/digest.ts';
import type { Transaction } from '../db/transaction.ts';
import type {
  EndClaim,
  EndVerdict,
  ListOrder,
  ListUnit,
  OrderKey,
  WalkEndContext,
} from './operation.ts';
import { columnsOf, isBelow, lastPlace, type PlacedList } from './placed-list.ts';

const one: Readonly<Record<ListUnit, string>> = { blocks: 'block', batches: 'batch' };

/** Above every place of a list: what is below it is all there is. */
const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** As SQL: stored items below a place, which no page has said to have left the list. */
const listedBelow = (list: PlacedList, chainId: number, place: OrderKey) => sql`
  chain_id = ${chainId}
  and ${isBelow(columnsOf(list), place)}
  and removed_at is null
`;

/** As SQL: written by a page in order. One that a page out of order wrote may stand at a wrong block. */
const isWitness = sql`not exists (
  select from etl.pages where pages.id = t.page_id and not is_ordered
)`;

/** The list can't end where stored items stand below. */
export async function judgeListEnd(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { last, entry, rows: served } = claim;
  // A page of which no item has a place ends nothing that would be proved.
  if (last === null && served.length > 0) return { is: 'unsupported' };
  const { order } = list;
  const asked = typeof entry === 'string' ? await lastPlace(db, claim.walk_id) : from(entry, order);
  const end = last ?? asked ?? (entry === 'head' ? aboveAll : null);
  if (end === null) return { is: 'unsupported' };
  const { table, height, key } = columnsOf(list);
  const { rows } = await db.execute<{ height: string; key: string }>(sql`
    select ${height} as height, ${key} as key
    from ${table} as t
    where ${listedBelow(list, claim.chain_id, end)}
      and ${isWitness}
      and ${key} <> all(${sql.param(claim.rows.map((item) => item.key))}::text[])
    order by ${height} desc, ${key} desc
    limit 1
  `);
  const [below] = rows;
  if (below === undefined) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  const at = { height: Number(below.height), key: below.key };
  const where = end === aboveAll ? 'it is empty' : `it ends at ${one[order.unit]} ${end.height}`;
  return {
    is: 'contradicted',
    evidence: `${where}, but items are stored below, the next at ${one[order.unit]} ${at.height}`,
    ask: order.cursorAt(at),
  };
}

/** Whether the list was found to end at this block before, which was believed then. */
async function wasEnd(
  db: Pick<Transaction, 'execute'>,
  { walk_id, feed }: EndClaim,
  last: OrderKey | null,
): Promise<boolean> {
  if (last === null) return false;
  const { rows } = await db.execute(sql`
    select from etl.walks
    where feed = ${feed}
      and state = 'finished'
      and reason is null
      and cuts = 0
      and bottom = ${last.height}
      and id <> ${walk_id}
    limit 1
  `);
  return rows.length > 0;
}

/** What stands at a position is below it too, where that is the position of the page's own first item. */
const from = (entry: OrderKey, { names }: ListOrder): OrderKey =>
  names === 'first' ? { ...entry, key: `${entry.key}~` } : entry;

/**
 * Where the end is believed, what is stored below it has left the list: the service was asked for it at its
 * own position.
 */
export async function removeBelow(
  list: PlacedList,
  tx: Transaction,
  walk: WalkEndContext,
): Promise<null> {
  if (!walk.isUnbroken) return null;
  const end = (await lastPlace(tx, walk.walk_id)) ?? aboveAll;
  await tx.execute(sql`
    with removed as (
      update ${columnsOf(list).table} as t
      set ${assign(list.table, {
        removed_at: sql`now()`,
        updated_at: sql`now()`,
        page_id: sql`${walk.page_id}::bigint`,
      })}
      where ${listedBelow(list, walk.chain_id, end)} and page_id < ${walk.page_id}
      returning ${sql.raw(tallied())}
    )
    ${sql.raw(tally(list.table, 'removed'))}
  `);
  return null;
}
