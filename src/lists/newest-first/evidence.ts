import { sql } from 'drizzle-orm';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import type { Feed } from '../feed.ts';
import type {
  EndClaim,
  EndVerdict,
  ItemRows,
  ListOrder,
  ListUnit,
  NewestFirstWalk,
  Operation,
  OrderKey,
  PageInWalk,
  WalkContext,
  WalkEndContext,
} from '../operation.ts';
import {
  placeColumns,
  confirmed,
  hasKey,
  inOrder,
  isAbove,
  isBelow,
  itemAbove,
  lastPlace,
  orderOf,
  outOfOrder,
  present,
  presentTime,
} from '../positions.ts';

/** Items that one page may remove: a reorganisation takes a few, a wrong page skips more. */
const mostGone = (rows: number) => Math.max(3, Math.floor(rows / 5));

type PlacedRows = ItemRows & { readonly height: number };

/** How far two reports of one item's time may differ, in ms: what is not final moves a little. */
const timeSlackMs = 10_000;

/**
 * No end at `since` of a feed counts any more once most known items of a page report another time than before, and three at
 * least: what was reported falsely ended them. The next backfill reads on there.
 */
async function doubtTimes(
  list: Operation,
  tx: Transaction,
  { feed, chain_id }: PageInWalk<NewestFirstWalk>['walk'],
  rows: readonly ItemRows[],
): Promise<void> {
  const { table, key, time } = placeColumns(list);
  const { columns } = orderOf(list);
  const said = new Map(rows.map((item) => [item.key, Date.parse(String(item.row[columns.time]))]));
  // Citus joins spread items with no table of the ledger.
  const known = await execute(tx).rows<{ key: string; ms: number | null }>`/* known times */
    select ${key} as key, (1000 * extract(epoch from ${time}))::float8 as ms
    from ${table}
    where chain_id = ${chain_id} and ${hasKey(list, [...said.keys()])}
  `;
  const differing = known.filter(
    (item) => item.ms !== null && Math.abs(item.ms - (said.get(item.key) ?? item.ms)) > timeSlackMs,
  );
  if (differing.length < 3 || 2 * differing.length <= known.length) return;
  await tx.execute(sql`
    update etl.feeds set since_doubted_at = clock_timestamp() where feed = ${feed}
  `);
}

/** Whether a walk of a feed ended at `since`. */
const hasReachedSince = (tx: Transaction, feed: string): Promise<boolean> =>
  execute(tx).has`select from etl.walks where feed = ${feed} and reason = 'since' limit 1`;

/** The pages that may say something beyond their own rows; one statement rules out most of them. */
export async function pagesWithChanges(
  list: Operation,
  tx: Transaction,
  pages: readonly PageInWalk<NewestFirstWalk>[],
): Promise<ReadonlySet<number>> {
  const meeting = pages.filter(({ walk }) => meetsKnown(walk));
  const [one] = meeting;
  if (one !== undefined && (await hasReachedSince(tx, one.walk.feed))) {
    for (const { walk, rows } of meeting) await doubtTimes(list, tx, walk, rows);
  }
  const ranges = pages.flatMap(({ walk, rows }) => {
    const [first, last] = [rows.find(isPlaced), rows.findLast(isPlaced)];
    if (first === undefined || last === undefined) return [];
    if (!meetsKnown(walk) && !walk.isConclusive) return [];
    const heights = rows.flatMap(({ height }) => height ?? []);
    return [{ walk, above: walk.above ?? first, last, heights }];
  });
  const numbers = new Set(ranges.map(({ walk }) => walk.page_id));
  const [first] = ranges;
  if (first === undefined) return numbers;
  const columns = placeColumns(list);
  const above = ranges.reduce<OrderKey>((a, b) => (inOrder(a, b.above) ? a : b.above), first.above);
  const last = ranges.reduce<OrderKey>((a, b) => (inOrder(a, b.last) ? b.last : a), first.last);
  const isStored = await execute(tx).has`/* stored within a range */
    select page_id from ${columns.table}
    where ${listedBelow(list, first.walk.chain_id, above)}
      and ${isAbove(columns, last)}
      and page_id < ${Math.max(...numbers)}
    limit 1
  `;
  if (isStored) return numbers;
  if (!meetsKnown(first.walk)) return new Set();
  const heights = ranges.flatMap((range) => range.heights);
  // A new item in a verified range came late.
  const isVerified = await execute(tx).has`/* verified within a range */
    select from etl.coverage where feed = ${first.walk.feed} and verified && ${spanOf(heights)} limit 1
  `;
  return isVerified ? numbers : new Set();
}

/** As SQL: the stored items below a position that have not left the list. */
const listedBelow = (list: Operation, chainId: number, place: OrderKey) => sql`
  chain_id = ${chainId}
  and ${isBelow(placeColumns(list), place)}
  and removed_at is null
`;

const spanOf = (heights: readonly number[]) =>
  sql`int8range(${Math.min(...heights)}, ${Math.max(...heights)}, '[]')`;

const isPlaced = (item: ItemRows): item is PlacedRows => item.height !== null;

/** Only walks with a stop height, and those that read again, meet known blocks. */
const meetsKnown = ({ floor, scope }: Pick<WalkContext<NewestFirstWalk>, 'floor' | 'scope'>) =>
  floor !== null || scope.again === true;

/** Notes a page's late arrivals and removals; false: the stored items do not confirm the page. */
export async function noteChanges(
  list: Operation,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  rows: readonly ItemRows[],
): Promise<boolean> {
  const placed = rows.filter(isPlaced);
  const [first, last] = [placed[0], placed.at(-1)];
  if (first === undefined || last === undefined) return true;
  // A walk into unread history finds nothing but new rows.
  if (meetsKnown(walk) && walk.inserted > 0) await noteLateArrivals(list, tx, walk, placed);
  return walk.isConclusive ? noteRemovals(list, tx, walk, rows, first, last) : true;
}

/** New rows in blocks that were verified before; equal times mean new: servers' `now()` differ. */
async function noteLateArrivals(
  list: Operation,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  placed: readonly PlacedRows[],
): Promise<void> {
  const heights = placed.map((item) => item.height);
  // This walk itself verified blocks above.
  const highest = Math.min(Math.max(...heights), walk.above?.height ?? Infinity);
  const keys = placed.map((item) => item.key);
  const { table, height, key, time } = placeColumns(list);
  await tx.execute(sql`
    with earlier as materialized (
      select range_agg(verified) as covered from etl.coverage where feed = ${walk.feed}
    )
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, ${list.name}, ${key}, ${height}, ${time}, ${walk.started_at}::timestamptz, page_id
    from ${table}, earlier
    where chain_id = ${walk.chain_id}
      and ${height} between ${Math.min(...heights)} and ${highest}
      and ${hasKey(list, keys)}
      and page_id = ${walk.page_id}
      and first_seen_at = updated_at
      and ${height} <@ covered
    on conflict do nothing
  `);
}

/**
 * Stored items between the end of the page before and this page's end have left the list if the
 * page lacks them and no newer page saw them. A page that skips many removes none until another
 * walk skips the same.
 */
async function noteRemovals(
  list: Operation,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  rows: readonly ItemRows[],
  first: PlacedRows,
  last: PlacedRows,
): Promise<boolean> {
  const above = walk.above ?? { height: first.height, key: first.key, page_id: walk.page_id };
  const most = mostGone(rows.length);
  const columns = placeColumns(list);
  const { table, height, key } = columns;
  const unseen = sql`
    ${listedBelow(list, walk.chain_id, above)}
    and ${isAbove(columns, last)}
    and ${key} <> all(${sql.param(rows.map((item) => item.key))}::text[])
    and page_id < case
      when (${height}, ${key}) < (${first.height}, ${first.key}) then ${walk.page_id}::bigint
      else ${above.page_id}::bigint
    end
  `;
  const statement = sql`
    with unseen as materialized (
      select ${height} as height from ${table} where ${unseen} limit ${most + 1}
    ), jump as materialized (
      select int8range(min(height), max(height), '[]') as skipped
      from unseen
      having count(*) > ${most}
    ), unbelieved as materialized (
      select skipped
      from jump
      where not exists (
        select from etl.pages
        where feed = ${walk.feed}
          and walk_id <> ${walk.walk_id}
          and jumped && skipped
      )
    ), noted as (
      update etl.pages set jumped = skipped from unbelieved where id = ${walk.page_id}
    ), ${present}, removed as (
      update ${table} as t
      set removed_at = ${presentTime}, updated_at = ${presentTime}, page_id = ${walk.page_id}
      from present
      where ${unseen} and exists (select from unseen) and not exists (select from unbelieved)
    )
    select from unbelieved
  `;
  return (await tx.execute(statement)).rows.length === 0;
}

const one: Readonly<Record<ListUnit, string>> = { blocks: 'block', batches: 'batch' };

const aboveAll: OrderKey = { height: Number.MAX_SAFE_INTEGER, key: '~' };

/** A list cannot end above stored items; if more than a page of them is missing, it was cut. */
export async function judgeListEnd(
  list: Operation,
  db: Queryable,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { last, entry, rows: served } = claim;
  // A page without any placed item ends no verifiable range.
  if (last === null && served.length > 0) return { is: 'unsupported' };
  const order = orderOf(list);
  const requested =
    typeof entry === 'string' ? await lastPlace(db, claim.walk_id) : from(entry, order);
  const end = last ?? requested ?? (entry === 'head' ? aboveAll : null);
  if (end === null) return { is: 'unsupported' };
  const where = end === aboveAll ? 'it is empty' : `it ends at ${one[order.unit]} ${end.height}`;
  const [next, ...others] = await evidenceBelow(list, db, claim, end, claim.pageSize + 1);
  const isLong = others.length >= claim.pageSize;
  // A list loses its newest items, but not all: nothing that is left says that it is this list.
  if (next !== undefined && (isLong || end === aboveAll)) {
    const below = isLong
      ? `more than ${claim.pageSize} items are stored below`
      : 'items are stored below';
    const evidence = `${where}, but ${below}, the next at ${one[order.unit]} ${next.height}`;
    return { is: 'contradicted', evidence, question: null };
  }
  if (claim.promised !== null && served.length + claim.quarantined === 0) {
    return judgePromise(list, db, claim, claim.promised);
  }
  if (next === undefined) {
    return { is: (await wasEnd(db, claim, last)) ? 'supported' : 'unsupported' };
  }
  return {
    is: 'contradicted',
    evidence: `${where}, but items are stored below, the next at ${one[order.unit]} ${next.height}`,
    question: { cursor: order.cursorAt(next), only: null },
  };
}

/** An empty page at a returned cursor is no end, unless its item and all below left meanwhile. */
async function judgePromise(
  list: Operation,
  db: Queryable,
  { chain_id, isResumed }: EndClaim,
  promised: OrderKey,
): Promise<EndVerdict> {
  const above = isResumed ? await itemAbove(list, db, chain_id, promised) : null;
  const order = orderOf(list);
  return {
    is: 'contradicted',
    evidence: `it lists nothing from ${one[order.unit]} ${promised.height} on, where its cursor names an item`,
    question: above === null ? null : { cursor: order.cursorAt(above), only: above },
  };
}

/** Stored items that are compared together: nearly all are evidence. */
const comparedAtOnce = 101;

/** Stored items below `end` that ordered pages wrote. Citus cannot join spread items with pages. */
async function evidenceBelow(
  list: Operation,
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
    const { rows }: { rows: StoredItem[] } = await db.execute<StoredItem>(sql`
      select ${height}::float8 as height, ${key} as key, page_id
      from ${table}
      where ${listedBelow(list, claim.chain_id, place)} and ${key} <> all(${served}::text[])
      order by ${table}.${height} desc, ${key} desc
      limit ${comparedAtOnce}
    `);
    found.push(...(await confirmed(db, rows)));
    place = rows.at(-1);
  }
  return found.slice(0, most);
}

type StoredItem = { readonly height: number; readonly key: string; readonly page_id: string };

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

/** The item at the position counts as below it, if the cursor names its page's first item. */
const from = (entry: OrderKey, { names }: ListOrder): OrderKey =>
  names === 'first' ? { ...entry, key: `${entry.key}~` } : entry;

/** Rows without a block that are judged at once. */
const judgedAtOnce = 1_000;

/**
 * An item that was served out of order, and is on no page that has since been read where it stood and in the block
 * that it named, has left the list, if it ever was in it.
 */
export async function removeUnplaced(list: Operation, tx: Queryable, feed: Feed): Promise<void> {
  const columns = placeColumns(list);
  const { table, height, key } = columns;
  const said = sql.param(outOfOrder(orderOf(list)));
  // Citus cannot join spread items with pages.
  const rows = await execute(tx).rows<{ key: string; page_id: string; said: string }>`
    select ${key} as key, page_id, extra ->> ${said} as said
    from ${table}
    where chain_id = ${feed.chain_id} and ${height} is null and removed_at is null and extra ? ${said}
    limit ${judgedAtOnce}
  `;
  if (rows.length === 0) return;
  const gone = await execute(tx).values<string>`
    select key
    from json_to_recordset(${JSON.stringify(rows)}::json) as row(key text, page_id bigint, said numeric)
    join etl.pages on pages.id = page_id
    join etl.feed_coverage on feed_coverage.feed = pages.feed
    where (said > highest or said::bigint <@ covered)
      -- A page of which nothing is in order has no place: all of the list has to be read.
      and case when top is null then covered = range_merge(covered)::int8multirange
               else int8range(coalesce(bottom, top), top, '[]') <@ covered end
  `;
  if (gone.length === 0) return;
  await tx.execute(sql`
    with ${present}
    update ${table} as t set removed_at = ${presentTime}, updated_at = ${presentTime}
    from present
    where chain_id = ${feed.chain_id} and ${hasKey(list, gone)} and ${height} is null
  `);
}

/** A believed end removes what is stored below it: its own position was requested. */
export async function removeBelow(
  list: Operation,
  tx: Transaction,
  walk: WalkEndContext,
): Promise<null> {
  if (!walk.isUnbroken) return null;
  const end = (await lastPlace(tx, walk.walk_id)) ?? aboveAll;
  await tx.execute(sql`
    with ${present}
    update ${placeColumns(list).table} as t
    set removed_at = ${presentTime}, updated_at = ${presentTime}, page_id = ${walk.page_id}
    from present
    where ${listedBelow(list, walk.chain_id, end)} and page_id < ${walk.page_id}
  `);
  return null;
}
