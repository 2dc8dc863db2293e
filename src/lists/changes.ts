import { sql } from 'drizzle-orm';
import { hasRows } from '../db/query.ts';
import type { Transaction } from '../db/transaction.ts';
import type { ItemRows, NewestFirstWalk, OrderKey, PageInWalk, WalkContext } from './operation.ts';
import { columnsOf, inOrder, isBelow, type PlacedList, present, presentTime } from './positions.ts';

/**
 * Items that one page may show to have left the list: a fifth of a page, three at least. A
 * reorganisation takes a few; a page that skips more is more likely a wrong page.
 */
const mostGone = (rows: number) => Math.max(3, Math.floor(rows / 5));

type PlacedRows = ItemRows & { readonly height: number };

/**
 * Of pages that are about to be written, those that may say something beyond their own rows. Most pages
 * are where nothing is stored and nothing verified: one statement shows it for a transaction.
 */
export async function pagesWithChanges(
  list: PlacedList,
  tx: Transaction,
  pages: readonly PageInWalk<NewestFirstWalk>[],
): Promise<ReadonlySet<number>> {
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
  const columns = columnsOf(list);
  const { table, height, key } = columns;
  const above = ranges
    .map((range): OrderKey => range.above)
    .reduce((a, b) => (inOrder(a, b) ? a : b));
  const last = ranges
    .map((range): OrderKey => range.last)
    .reduce((a, b) => (inOrder(a, b) ? b : a));
  const stored = sql`/* stored within a range */
    select page_id from ${table}
    where chain_id = ${first.walk.chain_id}
      and ${isBelow(columns, above)}
      and ${height} >= ${last.height}
      and (${height}, ${key}) > (${last.height}, ${last.key})
      and removed_at is null
      and page_id < ${Math.max(...numbers)}
    limit 1
  `;
  if (await hasRows(tx, stored)) return numbers;
  const heights = ranges.flatMap((range) => range.heights);
  // What is new where something is verified came late.
  const verified = sql`/* verified within a range */
    select from etl.coverage where feed = ${first.walk.feed} and verified && ${spanOf(heights)} limit 1
  `;
  return meetsKnown(first.walk) && (await hasRows(tx, verified)) ? numbers : new Set();
}

const spanOf = (heights: readonly number[]) =>
  sql`int8range(${Math.min(...heights)}, ${Math.max(...heights)}, '[]')`;

const isPlaced = (item: ItemRows): item is PlacedRows => item.height !== null;

/** Only walks with a stop height, and those that read again, meet known blocks. */
const meetsKnown = ({ floor, scope }: Pick<WalkContext<NewestFirstWalk>, 'floor' | 'scope'>) =>
  floor !== null || scope.again === true;

/**
 * What a page says beyond its own rows: which came late, and which stored items have left the list.
 *
 * @returns whether the stored items confirm the page; it concludes nothing about them if they don't
 */
export async function noteChanges(
  list: PlacedList,
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

/**
 * A new row in a block that another walk verified arrived behind the head. Few walks reach above a page
 * near the head, so this reads few rows. A row is new if nothing changed since it was first seen: on
 * another server `now()` differs.
 */
async function noteLateArrivals(
  list: PlacedList,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  placed: readonly PlacedRows[],
): Promise<void> {
  const heights = placed.map((item) => item.height);
  const { table, height, key, time } = columnsOf(list);
  await tx.execute(sql`
    with proven as (
      select range_agg(part) as covered
      from (
        select proved as part
        from etl.walks
        where feed = ${walk.feed}
          and id <> ${walk.walk_id}
          and top > ${Math.min(...heights)}
          and proved && ${spanOf(heights)}
        union all
        select verified from etl.pruned where feed = ${walk.feed}
      ) as others
    )
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, ${list.name}, ${key}, ${height}, ${time}, ${walk.started_at}::timestamptz, page_id
    from ${table}, proven
    where chain_id = ${walk.chain_id}
      and ${height} between ${Math.min(...heights)} and ${Math.max(...heights)}
      and ${key} = any(${sql.param(placed.map((item) => item.key))}::text[])
      and page_id = ${walk.page_id}
      and first_seen_at = updated_at
      and ${height} <@ covered
    on conflict do nothing
  `);
}

/**
 * The list holds between a page's first and last item what the page holds: other stored items there
 * have left the list, unless a newer page has seen them. So have those between the last item of the
 * page before and this page's first, since the cursor leads from one to the other.
 *
 * A page that skips many stored items is noted as doubtful, and removes nothing. If another walk skips
 * the same, they are gone.
 */
async function noteRemovals(
  list: PlacedList,
  tx: Transaction,
  walk: WalkContext<NewestFirstWalk>,
  rows: readonly ItemRows[],
  first: PlacedRows,
  last: PlacedRows,
): Promise<boolean> {
  const above = walk.above ?? { height: first.height, key: first.key, page_id: walk.page_id };
  const most = mostGone(rows.length);
  const columns = columnsOf(list);
  const { table, height, key } = columns;
  const unseen = sql`
    chain_id = ${walk.chain_id}
    and ${isBelow(columns, above)}
    and ${height} >= ${last.height}
    and (${height}, ${key}) > (${last.height}, ${last.key})
    and ${key} <> all(${sql.param(rows.map((item) => item.key))}::text[])
    and removed_at is null
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
