import { sql } from 'drizzle-orm';
import { hasRows, type Queryable } from '../db/query.ts';
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

const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

const listedBelow = (list: PlacedList, chainId: number, place: OrderKey) => sql`
  chain_id = ${chainId}
  and ${isBelow(columnsOf(list), place)}
  and removed_at is null
`;

/**
 * The list can't end above stored items, nor with an empty page at a cursor that names an item. A few
 * items may have left the list; if more than a page of them is missing, the answer is truncated.
 */
export async function judgeListEnd(
  list: PlacedList,
  db: Queryable,
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
 * An empty page at a cursor that the service returned is no end. Later, that item and all below it may
 * have left the list: then the list ends with the item above them.
 */
async function judgePromise(
  list: PlacedList,
  db: Queryable,
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

/** The lowest stored item above a position. */
async function nextAbove(
  list: PlacedList,
  db: Queryable,
  chainId: number,
  place: OrderKey,
): Promise<OrderKey | null> {
  const { table, height, key } = columnsOf(list);
  const { rows } = await db.execute<{ height: number; key: string }>(sql`
    select ${height}::float8 as height, ${key} as key
    from ${table}
    where chain_id = ${chainId}
      and ${height} >= ${place.height} and (${height}, ${key}) > (${place.height}, ${place.key})
      and removed_at is null
    order by ${table}.${height}, ${key}
    limit 1
  `);
  return rows[0] ?? null;
}

/** Stored items that are compared together: nearly all are evidence. */
const comparedAtOnce = 101;

/**
 * The highest stored items below a position that the page does not serve, and that pages in order
 * wrote: another may be at a wrong block, or of another list. Citus cannot join spread items with
 * pages, so two statements read them.
 */
async function evidenceBelow(
  list: PlacedList,
  db: Queryable,
  claim: EndClaim,
  end: OrderKey,
  most: number,
): Promise<OrderKey[]> {
  const { table, height, key } = columnsOf(list);
  const served = sql.param(claim.rows.map((item) => item.key));
  const found: OrderKey[] = [];
  // Each round goes further down the list, to its end at most.
  for (let place: OrderKey | undefined = end; place !== undefined && found.length < most;) {
    const { rows }: { rows: StoredItem[] } = await db.execute<StoredItem>(sql`
      select ${height}::float8 as height, ${key} as key, page_id
      from ${table}
      where ${listedBelow(list, claim.chain_id, place)} and ${key} <> all(${served}::text[])
      order by ${table}.${height} desc, ${key} desc
      limit ${comparedAtOnce}
    `);
    const unconfirmed = await disordered(db, rows);
    found.push(...rows.filter(({ page_id }) => !unconfirmed.has(page_id)));
    place = rows.at(-1);
  }
  return found.slice(0, most);
}

type StoredItem = { readonly height: number; readonly key: string; readonly page_id: string };

/** Of the pages that wrote some items, those that were out of order. */
async function disordered(
  db: Queryable,
  items: readonly Pick<StoredItem, 'page_id'>[],
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
  db: Queryable,
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

/** Whether an earlier walk ended at this block, and was believed. */
const wasEnd = async (db: Queryable, { walk_id, feed }: EndClaim, last: OrderKey | null) =>
  last !== null &&
  hasRows(
    db,
    sql`
      select from etl.walks
      where feed = ${feed}
        and state = 'finished'
        and reason is null
        and cuts = 0
        and bottom = ${last.height}
        and id <> ${walk_id}
      limit 1
    `,
  );

/** Below a position is also its own item, if the cursor names the first item of its page. */
const from = (entry: OrderKey, { names }: ListOrder): OrderKey =>
  names === 'first' ? { ...entry, key: `${entry.key}~` } : entry;

/** A believed end removes what is stored below it: its own position was requested. */
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
