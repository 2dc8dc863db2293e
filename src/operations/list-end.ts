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
import {
  columnsOf,
  isBelow,
  lastPlace,
  present,
  presentTime,
  type PlacedList,
} from './placed-list.ts';

const one: Readonly<Record<ListUnit, string>> = { blocks: 'block', batches: 'batch' };

/** Above every place of a list: what is below it is all there is. */
const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** As SQL: stored items below a place, which no page has said to have left the list. */
const listedBelow = (list: PlacedList, chainId: number, place: OrderKey) => sql`
  chain_id = ${chainId}
  and ${isBelow(columnsOf(list), place)}
  and removed_at is null
`;

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
  const below = await nextWitness(list, db, claim, end);
  if (below === null) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  const where = end === aboveAll ? 'it is empty' : `it ends at ${one[order.unit]} ${end.height}`;
  return {
    is: 'contradicted',
    evidence: `${where}, but items are stored below, the next at ${one[order.unit]} ${below.height}`,
    ask: order.cursorAt(below),
  };
}

/** Stored items that are looked at together: the first one is a witness almost always. */
const witnessesAtOnce = 50;

/**
 * The highest stored item below a place that the page does not serve, and that a page in order wrote: one
 * that a page out of order wrote may stand at a wrong block. Items and pages are asked for one after the
 * other: where items are spread over servers, the two can't be joined.
 */
async function nextWitness(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
  end: OrderKey,
): Promise<OrderKey | null> {
  const { table, height, key } = columnsOf(list);
  // Each round goes further down the list, to its end at most.
  for (let place: OrderKey = end; ;) {
    const { rows } = await db.execute<{ height: string; key: string; page_id: string }>(sql`
      select ${height} as height, ${key} as key, page_id
      from ${table}
      where ${listedBelow(list, claim.chain_id, place)}
        and ${key} <> all(${sql.param(claim.rows.map((item) => item.key))}::text[])
      order by ${height} desc, ${key} desc
      limit ${witnessesAtOnce}
    `);
    const { rows: disordered } = await db.execute<{ id: string }>(sql`
      select id from etl.pages
      where id = any(${sql.param(rows.map(({ page_id }) => page_id))}::bigint[]) and not is_ordered
    `);
    const doubtful = new Set(disordered.map(({ id }) => id));
    const witness = rows.find(({ page_id }) => !doubtful.has(page_id));
    const last = witness ?? rows.at(-1);
    if (last === undefined) return null;
    place = { height: Number(last.height), key: last.key };
    if (witness !== undefined) return place;
  }
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
    with ${present}, removed as (
      update ${columnsOf(list).table} as t
      set ${assign(list.table, {
        removed_at: presentTime,
        updated_at: presentTime,
        page_id: sql`${walk.page_id}::bigint`,
      })}
      from present
      where ${listedBelow(list, walk.chain_id, end)} and page_id < ${walk.page_id}
      returning ${sql.raw(tallied())}
    )
    ${sql.raw(tally(list.table, 'removed'))}
  `);
  return null;
}
