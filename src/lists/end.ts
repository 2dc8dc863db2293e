import { sql } from 'drizzle-orm';
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
  type PlacedList,
  present,
  presentTime,
} from './positions.ts';

const one: Readonly<Record<ListUnit, string>> = { blocks: 'block', batches: 'batch' };

/** Above every place of a list: what is below it is all there is. */
const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** As SQL: stored items below a place, which no page has said to have left the list. */
const listedBelow = (list: PlacedList, chainId: number, place: OrderKey) => sql`
  chain_id = ${chainId}
  and ${isBelow(columnsOf(list), place)}
  and removed_at is null
`;

/**
 * The list can't end where stored items stand below, nor with an empty page at a cursor that names an item.
 * A few items may have left the list. If more than a page of them is missing, the service is truncated.
 */
export async function judgeListEnd(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { last, entry, rows: served } = claim;
  // A page of which no item has a place ends nothing that would be verified.
  if (last === null && served.length > 0) return { is: 'unsupported' };
  const { order } = list;
  const asked = typeof entry === 'string' ? await lastPlace(db, claim.walk_id) : from(entry, order);
  const end = last ?? asked ?? (entry === 'head' ? aboveAll : null);
  if (end === null) return { is: 'unsupported' };
  const where = end === aboveAll ? 'it is empty' : `it ends at ${one[order.unit]} ${end.height}`;
  const [next, ...others] = await evidenceBelow(list, db, claim, end, claim.pageSize + 1);
  if (next !== undefined && others.length >= claim.pageSize) {
    const below = `more than ${claim.pageSize} items are stored below`;
    const evidence = `${where}, but ${below}, the next at ${one[order.unit]} ${next.height}`;
    return { is: 'contradicted', evidence, ask: null };
  }
  if (claim.promised !== null && isEmpty(claim))
    return judgePromise(list, db, claim, claim.promised);
  if (next === undefined) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  return {
    is: 'contradicted',
    evidence: `${where}, but items are stored below, the next at ${one[order.unit]} ${next.height}`,
    ask: { cursor: order.cursorAt(next), only: null },
  };
}

const isEmpty = ({ rows, quarantined }: EndClaim) => rows.length + quarantined === 0;

/**
 * An empty page where the service's own cursor names an item is no end. Later, the item and all below it may
 * have left the list: then the list ends with the item above them, requested at its own position.
 */
async function judgePromise(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  { chain_id, isResumed }: EndClaim,
  promised: OrderKey,
): Promise<EndVerdict> {
  const above = isResumed ? await nextAbove(list, db, chain_id, promised) : null;
  const { order } = list;
  return {
    is: 'contradicted',
    evidence: `it lists nothing from ${one[order.unit]} ${promised.height} on, where its cursor names an item`,
    ask: above === null ? null : { cursor: order.cursorAt(above), only: above },
  };
}

/** The lowest stored item above a place. */
async function nextAbove(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  chainId: number,
  place: OrderKey,
): Promise<OrderKey | null> {
  const { table, height, key } = columnsOf(list);
  const { rows } = await db.execute<{ height: string; key: string }>(sql`
    select ${height} as height, ${key} as key
    from ${table}
    where chain_id = ${chainId}
      and ${height} >= ${place.height} and (${height}, ${key}) > (${place.height}, ${place.key})
      and removed_at is null
    order by ${height}, ${key}
    limit 1
  `);
  const [row] = rows;
  return row === undefined ? null : { height: Number(row.height), key: row.key };
}

interface StoredItem extends OrderKey {
  readonly page_id: string;
}

/** The highest stored items below a place that the page does not serve. */
async function storedBelow(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
  place: OrderKey,
  most: number,
): Promise<StoredItem[]> {
  const { table, height, key } = columnsOf(list);
  const { rows } = await db.execute<{ height: string; key: string; page_id: string }>(sql`
    select ${height} as height, ${key} as key, page_id
    from ${table}
    where ${listedBelow(list, claim.chain_id, place)}
      and ${key} <> all(${sql.param(claim.rows.map((item) => item.key))}::text[])
    order by ${height} desc, ${key} desc
    limit ${most}
  `);
  return rows.map((row) => ({ ...row, height: Number(row.height) }));
}

/** Stored items that are looked at together: nearly all are evidence. */
const comparedAtOnce = 101;

/**
 * The highest stored items below a place that the page does not serve, and that pages in order wrote: one
 * that a page out of order wrote may be at a wrong block, or of another list. Items and pages are requested
 * one after the other: where items are spread over servers, the two can't be joined.
 */
async function evidenceBelow(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  claim: EndClaim,
  end: OrderKey,
  most: number,
): Promise<OrderKey[]> {
  const found: OrderKey[] = [];
  // Each round goes further down the list, to its end at most.
  for (let place: OrderKey | undefined = end; place !== undefined && found.length < most;) {
    const rows: StoredItem[] = await storedBelow(list, db, claim, place, comparedAtOnce);
    const unconfirmed = await disordered(db, rows);
    found.push(...rows.filter(({ page_id }) => !unconfirmed.has(page_id)));
    place = rows.at(-1);
  }
  return found.slice(0, most);
}

/** Of the pages that wrote some items, those that were out of order. */
async function disordered(
  db: Pick<Transaction, 'execute'>,
  items: readonly { readonly page_id: string }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select id from etl.pages
    where id = any(${sql.param(items.map(({ page_id }) => page_id))}::bigint[]) and not is_ordered
  `);
  return new Set(rows.map(({ id }) => id));
}

/** Whether one of some items is stored, and a page in order wrote it. */
export async function sharesStored(
  list: PlacedList,
  db: Pick<Transaction, 'execute'>,
  chainId: number,
  keys: readonly string[],
): Promise<boolean> {
  const { table, key } = columnsOf(list);
  const { rows } = await db.execute<{ page_id: string }>(sql`
    select page_id from ${table}
    where chain_id = ${chainId} and ${key} = any(${sql.param(keys)}::text[])
  `);
  const doubtful = await disordered(db, rows);
  return rows.some(({ page_id }) => !doubtful.has(page_id));
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
 * Where the end is believed, what is stored below it has left the list: it was requested at its
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
    with ${present}
    update ${columnsOf(list).table} as t
    set removed_at = ${presentTime}, updated_at = ${presentTime}, page_id = ${walk.page_id}
    from present
    where ${listedBelow(list, walk.chain_id, end)} and page_id < ${walk.page_id}
  `);
  return null;
}
