import { sql } from 'drizzle-orm';
import { execute, type Transaction } from '../../db/transaction.ts';
import type { CountsByPage } from '../../load/upsert.ts';
import type {
  ItemRows,
  NewestFirstOperation,
  NewestFirstWalk,
  OrderKey,
  PageInWalk,
  WalkContext,
} from '../operation.ts';
import { hasKey, inOrder, isAbove, listedBelow, placeColumns, present } from '../positions.ts';
import { z } from 'zod';

/** Items that one page may remove: a reorganisation takes a few, a wrong page skips more. */
const mostGone = (rows: number) => Math.max(3, Math.floor(rows / 5));

/** A page that skips more of a list is never believed, nor is all of that read. */
const mostCompared = 100_000;

type PlacedRows = ItemRows & { readonly height: number };

/** How far two reports of one item's time may differ, in ms: what is not final moves a little. */
const timeSlackMs = 10_000;

/** Once most known items of a page, three at least, report another time than before, no end at `since` counts any more. */
async function noteOtherTimes(
  list: NewestFirstOperation,
  tx: Transaction,
  { feed, chain_id }: PageInWalk<NewestFirstWalk>['walk'],
  rows: readonly ItemRows[],
): Promise<void> {
  const { table, key, time } = placeColumns(list);
  const { columns } = list.order;
  const times = new Map(rows.map((item) => [item.key, Date.parse(String(item.row[columns.time]))]));
  // Citus joins spread items with no table of the ledger.
  const known = await execute(tx).rows(() =>
    z.object({ key: z.string(), ms: z.number().nullable() }),
  )`/* known times */
    select ${key} as key, (1000 * extract(epoch from ${time}))::float8 as ms
    from ${table}
    where chain_id = ${chain_id} and ${hasKey(list, [...times.keys()])}
  `;
  const differing = known.filter(
    (item) =>
      item.ms !== null && Math.abs(item.ms - (times.get(item.key) ?? item.ms)) > timeSlackMs,
  );
  if (differing.length < 3 || 2 * differing.length <= known.length) return;
  await tx.execute(sql`
    update etl.feeds set since_doubted_at = clock_timestamp() where feed = ${feed}
  `);
}

/** Writes pages, and the late arrivals and removals that they show. A page that stored items refute verifies nothing. */
export async function writeNewestFirst(
  list: NewestFirstOperation,
  tx: Transaction,
  pages: readonly PageInWalk<NewestFirstWalk>[],
  load: () => Promise<CountsByPage>,
): Promise<ReadonlySet<number>> {
  const changing = await pagesWithChanges(list, tx, pages);
  const counts = await load();
  const refuted = new Set<number>();
  for (const [index, { walk }] of pages.entries()) {
    if (!changing.has(walk.page_id)) continue;
    const { inserted = 0 } = counts.get(walk.page_id) ?? {};
    if (!(await noteChanges(list, tx, pages, index, inserted))) refuted.add(walk.page_id);
  }
  return refuted;
}

/** The pages that may say something beyond their own rows; one statement rules out most of them. */
async function pagesWithChanges(
  list: NewestFirstOperation,
  tx: Transaction,
  pages: readonly PageInWalk<NewestFirstWalk>[],
): Promise<ReadonlySet<number>> {
  const meeting = pages.filter(({ walk }) => meetsKnown(walk));
  const [one] = meeting;
  const hasReachedSince =
    one &&
    (await execute(tx).has`
      select from etl.walks where feed = ${one.walk.feed} and reason = 'since' limit 1
    `);
  if (hasReachedSince) {
    for (const { walk, rows } of meeting) await noteOtherTimes(list, tx, walk, rows);
  }
  const ranges = pages.flatMap(({ walk, rows }) => {
    const [first, last] = [rows.find(isPlaced), rows.findLast(isPlaced)];
    if (first === undefined || last === undefined) return [];
    if (!meetsKnown(walk) && !walk.isConclusive) return [];
    const heights = rows.flatMap(({ height }) => height ?? []);
    return [{ walk, above: walk.previousLast ?? first, last, heights }];
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
    select from etl.coverage
    where feed = ${first.walk.feed}
      and verified && int8range(${Math.min(...heights)}, ${Math.max(...heights)}, '[]')
    limit 1
  `;
  return isVerified ? numbers : new Set();
}

const isPlaced = (item: ItemRows): item is PlacedRows => item.height !== null;

/** Only walks with a stop height, and those that read again, meet known blocks. */
const meetsKnown = ({ floor, scope }: Pick<WalkContext<NewestFirstWalk>, 'floor' | 'scope'>) =>
  floor !== null || scope.again === true;

/**
 * Notes the late arrivals and removals of one of the pages of a transaction, as if it had its own; false: the stored items
 * do not confirm the page.
 */
export async function noteChanges(
  list: NewestFirstOperation,
  tx: Transaction,
  pages: readonly PageInWalk<NewestFirstWalk>[],
  index: number,
  inserted: number,
): Promise<boolean> {
  const { walk, rows = [] } = pages[index] ?? {};
  const placed = rows.filter(isPlaced);
  const [first, last] = [placed[0], placed.at(-1)];
  if (walk === undefined || first === undefined || last === undefined) return true;
  // A walk into unread history finds nothing but new rows.
  if (meetsKnown(walk) && inserted > 0) {
    const before = keysOf(pages.slice(0, index));
    const added = placed.filter(({ key }) => !before.has(key));
    const numbers = pages.map((page) => page.walk.page_id);
    await noteLateArrivals(list, tx, walk, added, numbers);
  }
  // What a later page shows is stored by now, and has not left.
  const shown = keysOf(pages.slice(index));
  return walk.isConclusive ? noteRemovals(list, tx, walk, rows.length, shown, first, last) : true;
}

const keysOf = (pages: readonly PageInWalk<NewestFirstWalk>[]) =>
  new Set(pages.flatMap(({ rows }) => rows.map(({ key }) => key)));

/**
 * Items that this page brought, at blocks that were verified before; equal times mean a new row: servers' `now()` differ. A
 * later page, one of `numbers`, may have changed the row, also its block: what this page says of it decides.
 */
async function noteLateArrivals(
  list: NewestFirstOperation,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  placed: readonly PlacedRows[],
  numbers: readonly number[],
): Promise<void> {
  // This walk itself verified blocks above.
  const highest = walk.previousLast?.height ?? Infinity;
  const items = placed.flatMap(({ key, height, row }) =>
    height <= highest ? { late_key: key, at: height, time: row[list.order.columns.time] } : [],
  );
  const { table, key } = placeColumns(list);
  await tx.execute(sql`
    with late as materialized (
      select late.*
      from json_to_recordset(${JSON.stringify(items)}::json) as late(late_key text, at bigint, time timestamptz)
      where at <@ (select range_agg(verified) from etl.coverage where feed = ${walk.feed})
    )
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, ${list.name}, late_key, at, time, ${walk.as_of}::timestamptz, ${walk.page_id}
    from ${table} join late on late_key = ${key}
    where chain_id = ${walk.chain_id}
      and ${hasKey(
        list,
        items.map(({ late_key }) => late_key),
      )}
      and page_id = any(${sql.param(numbers)}::bigint[])
      and first_seen_at = updated_at
    on conflict do nothing
  `);
}

/**
 * Stored items between the end of the page before (else this page's first item) and this page's end, which no newer page saw,
 * have left the list. A page that skips many removes none until other walks have skipped all but a few of them,
 * and more than `mostCompared` never.
 */
async function noteRemovals(
  list: NewestFirstOperation,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  items: number,
  shown: ReadonlySet<string>,
  first: PlacedRows,
  last: PlacedRows,
): Promise<boolean> {
  const { page_id } = walk;
  const above = walk.previousLast ?? { height: first.height, key: first.key, page_id };
  const most = mostGone(items);
  const columns = placeColumns(list);
  const { table, height, key } = columns;
  const unseen = sql`
    ${listedBelow(list, walk.chain_id, above)}
    and ${isAbove(columns, last)}
    and ${key} <> all(${sql.param([...shown])}::text[])
    and page_id < case
      when (${height}, ${key}) < (${first.height}, ${first.key}) then ${walk.page_id}::bigint
      else ${above.page_id}::bigint
    end
  `;
  const statement = sql`
    with unseen as materialized (
      select ${height} as height from ${table} where ${unseen}
      order by ${table}.${height} desc limit ${mostCompared + 1}
    ), jump as materialized (
      select int8range(min(height), max(height), '[]') as skipped, count(*) as skipped_items
      from unseen
      having count(*) > ${most}
    ), also_skipped as materialized (
      select other.id, other.walk_id, other.jumped * skipped as blocks
      from etl.pages as other, jump
      where feed = ${walk.feed} and walk_id <> ${walk.walk_id} and jumped && skipped
    ), agreed as materialized (
      select blocks from also_skipped as other
      -- Not if another walk has shown these blocks since.
      where not exists (
        select from etl.pages as shown
        where feed = ${walk.feed}
          and id > other.id
          and id < ${walk.page_id}
          and walk_id not in (other.walk_id, ${walk.walk_id})
          and is_ordered
          and jumped is null
          and top >= lower(other.blocks)
          and bottom < upper(other.blocks)
      )
    ), skipped_alone as materialized (
      select count(*) as items from unseen left join agreed on height <@ blocks where blocks is null
    ), unbelieved as materialized (
      -- One question inside another leaves no row on Citus.
      select skipped from jump, skipped_alone
      where items > ${most} or skipped_items > ${mostCompared}
    ), noted as (
      update etl.pages set jumped = skipped from unbelieved where id = ${walk.page_id}
    ), ${present}, removed as (
      update ${table} as t
      set removed_at = present.at, updated_at = present.at, page_id = ${walk.page_id}
      from present
      where ${unseen} and exists (select from unseen) and not exists (select from unbelieved)
    )
    select from unbelieved
  `;
  return (await tx.execute(statement)).rows.length === 0;
}
