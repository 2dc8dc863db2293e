import { sql } from 'drizzle-orm';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import { type Feed, feedName } from '../feed.ts';
import {
  type EndClaim,
  type EndVerdict,
  type ListOrder,
  type ListUnit,
  type NewestFirstOperation,
  type OrderKey,
  type WalkEndContext,
  orderKeyShape,
} from '../operation.ts';
import {
  confirmed,
  hasKey,
  itemAbove,
  lastPlace,
  listedBelow,
  namedBy,
  outOfOrder,
  placeColumns,
  present,
} from '../positions.ts';
import { z } from 'zod';

const units: Readonly<Record<ListUnit, string>> = { blocks: 'block', batches: 'batch' };

const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** A list cannot end above stored items; if more than a page of them is missing, it was cut. */
export async function judgeListEnd(
  list: NewestFirstOperation,
  db: Queryable,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { last, cursor, rows: served } = claim;
  // A page without any placed item ends no verifiable range.
  if (last === null && served.length > 0) return { is: 'unsupported' };
  const { order } = list;
  const entry = cursor === null ? null : order.position(cursor);
  const requested = entry === null ? await lastPlace(db, claim.walk_id) : aboveEntry(entry, order);
  const end = last ?? requested ?? (cursor === null ? aboveAll : null);
  if (end === null) return { is: 'unsupported' };
  const [next, ...others] = await evidenceBelow(list, db, claim, end, claim.pageSize + 1);
  const isLong = others.length >= claim.pageSize;
  // A list loses its newest items, but not all: nothing that is left says that it is this list.
  const mayBeGone = !isLong && end !== aboveAll;
  const promised = served.length + claim.quarantined === 0 ? namedBy(order, cursor) : null;
  if (promised !== null && (next === undefined || mayBeGone)) {
    return judgePromise(list, db, claim.chain_id, promised);
  }
  if (next === undefined) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  const unit = units[order.unit];
  const where = end === aboveAll ? 'it is empty' : `it ends at ${unit} ${end.height}`;
  const items = isLong ? `more than ${claim.pageSize} items` : 'items';
  return {
    is: 'contradicted',
    evidence: `${where}, but ${items} are stored below, the next at ${unit} ${next.height}`,
    question: mayBeGone ? { cursor: order.cursorAt(next), only: null } : null,
  };
}

/** An empty page at a returned cursor is no end, unless its item and all below left meanwhile. */
async function judgePromise(
  list: NewestFirstOperation,
  db: Queryable,
  chainId: number,
  promised: OrderKey,
): Promise<EndVerdict> {
  const above = await itemAbove(list, db, chainId, promised);
  const { order } = list;
  return {
    is: 'contradicted',
    evidence: `it lists nothing from ${units[order.unit]} ${promised.height} on, where its cursor names an item`,
    question: above === null ? null : { cursor: order.cursorAt(above), only: above },
  };
}

/** Stored items that are compared together: nearly all are evidence. */
const comparedAtOnce = 101;

/** Stored items below `end` that are evidence. Citus cannot join spread items with pages. */
async function evidenceBelow(
  list: NewestFirstOperation,
  db: Queryable,
  claim: EndClaim,
  end: OrderKey,
  most: number,
): Promise<OrderKey[]> {
  const { table, height, key } = placeColumns(list);
  const served = sql.param(claim.rows.map((item) => item.key));
  const found: OrderKey[] = [];
  // Each round goes further down the list, to its end at most.
  for (let place: OrderKey | undefined = end; place !== undefined && found.length < most;) {
    const rows: StoredItem[] = await execute(db).rows(storedItemShape)`
      select ${height}::float8 as height, ${key} as key, page_id
      from ${table}
      where ${listedBelow(list, claim.chain_id, place)} and ${key} <> all(${served}::text[])
      order by ${table}.${height} desc, ${key} desc
      limit ${comparedAtOnce}
    `;
    found.push(...(await confirmed(db, rows)));
    place = rows.at(-1);
  }
  return found.slice(0, most);
}

const storedItemShape = () => orderKeyShape().extend({ page_id: z.string() });
type StoredItem = Readonly<z.infer<ReturnType<typeof storedItemShape>>>;

const wasEnd = async (db: Queryable, { walk_id, feed }: EndClaim, last: OrderKey | null) =>
  last !== null &&
  execute(db).has`
    select from etl.walks
    where feed = ${feed}
      and state = 'finished'
      and reason is null
      and cuts = 0
      and bottom = ${last.height}
      and id <> ${walk_id}
    limit 1
  `;

/** Right above a requested position, if its cursor names the page's first item: what is below includes that item. */
const aboveEntry = (entry: OrderKey, { names }: ListOrder): OrderKey =>
  names === 'first' ? { ...entry, key: `${entry.key}~` } : entry;

/** Rows without a block that are judged at once. */
const judgedAtOnce = 1_000;

/** Removes items that were served out of order if where they stood and the block that they named were read without them. */
export async function removeUnplaced(
  list: NewestFirstOperation,
  tx: Queryable,
  feed: Feed,
): Promise<void> {
  const { table, height, key } = placeColumns(list);
  const field = sql.param(outOfOrder(list.order));
  // Each round goes on behind the last key.
  for (let after: string | undefined = ''; after !== undefined;) {
    // Citus cannot join spread items with pages.
    const rows: UnplacedItem[] = await execute(tx).rows(unplacedItemShape)`
      select ${key} as key, page_id, extra ->> ${field} as named
      from ${table}
      where chain_id = ${feed.chain_id} and ${height} is null and removed_at is null and extra ? ${field}
        and ${key} > ${after}
      order by ${key}
      limit ${judgedAtOnce}
    `;
    const gone = rows.length === 0 ? [] : await goneOf(tx, feed, rows);
    if (gone.length > 0) {
      await tx.execute(sql`
        with ${present}
        update ${table} as t set removed_at = present.at, updated_at = present.at
        from present
        where chain_id = ${feed.chain_id} and ${hasKey(list, gone)} and ${height} is null
      `);
    }
    after = rows[judgedAtOnce - 1]?.key;
  }
}

const unplacedItemShape = () =>
  z.object({ key: z.string(), page_id: z.string(), named: z.string() });
type UnplacedItem = z.infer<ReturnType<typeof unplacedItemShape>>;

/**
 * The keys of those that what is covered shows to have left. What was read before their page does not say so: neither of the
 * block that an item names, nor of where it was listed, on its page or, if that has no range, between those around it. Of a page
 * that was forgotten all of the ledger is newer.
 */
const goneOf = (tx: Queryable, feed: Feed, rows: readonly UnplacedItem[]) =>
  execute(tx).values(z.string)`
    select key
    from json_to_recordset(${JSON.stringify(rows)}::json) as row(key text, page_id bigint, named numeric)
    left join etl.pages on pages.id = page_id
    left join etl.walks as own on own.id = walk_id
    join etl.feed_coverage on feed_coverage.feed = ${feedName(feed)}
    cross join lateral (
      select coalesce(pages.bottom, pages.top, (
               select below.top from etl.pages as below
               where below.walk_id = own.id and sequence > pages.sequence and below.top is not null
               order by sequence limit 1
             ), 0) as lowest,
             coalesce(pages.top, (
               select above.bottom from etl.pages as above
               where above.walk_id = own.id and sequence < pages.sequence and above.bottom is not null
               order by sequence desc limit 1
             ), own.top, 0) as uppermost
    ) as place
    where (named > highest or named::bigint <@ covered)
      and exists (
        select from etl.walks as later
        where later.feed = feed_coverage.feed
          and later.run_id >= coalesce(own.run_id, 0)
          and (
            later.verified @> named::bigint
            or (later.from_head and later.id > coalesce(own.id, 0) and later.top < named)
          )
          and not exists (
            select from etl.pages as earlier
            where earlier.walk_id = later.id and earlier.id <= pages.id and earlier.bottom <= named
          )
      )
      and int8range(least(lowest, uppermost), greatest(lowest, uppermost), '[]') <@ (
        select range_agg(verified)
        from etl.walks as later
        where later.feed = feed_coverage.feed
          -- Its own walk does not verify where it stood.
          and (later.id = own.id or later.id > coalesce(own.id, 0) and not exists (
            select from etl.pages as earlier
            where earlier.walk_id = later.id and earlier.id <= pages.id and earlier.bottom <= uppermost
          ))
      )
      -- A page of which nothing is in order may belong anywhere: all of the list has to be read.
      and (pages.top is not null or covered = range_merge(covered)::int8multirange)
  `;

/** A believed end removes what is stored below it, down to where the walk concludes, unless the walk met disorder. */
export async function removeBelow(
  list: NewestFirstOperation,
  tx: Transaction,
  walk: WalkEndContext,
): Promise<null> {
  if (!walk.isUnbroken) return null;
  const last = await lastPlace(tx, walk.walk_id);
  // What is listed above a cursor, a walk from there does not know.
  if (last === null && !(await beganAtHead(tx, walk))) return null;
  const end = last ?? aboveAll;
  await tx.execute(sql`
    with ${present}
    update ${placeColumns(list).table} as t
    set removed_at = present.at, updated_at = present.at, page_id = ${walk.page_id}
    from present
    where ${listedBelow(list, walk.chain_id, end)} and ${placeColumns(list).height} >= ${walk.readDownTo}
      and page_id < ${walk.page_id}
  `);
  return null;
}

const beganAtHead = (tx: Transaction, { walk_id }: WalkEndContext) =>
  execute(tx).has`select from etl.walks where id = ${walk_id} and from_head`;
