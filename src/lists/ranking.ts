import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../db/column-types.ts';
import type { ItemRows, WalkContext } from './operation.ts';
import { tokenAddress } from './positions.ts';

/** A ranked list. Its table has `rank` and `missing_since` beside these columns. */
export interface RankedList {
  /** Its items, in the plural. */
  readonly items: string;
  readonly table: PgTable;
  /** The column that identifies a chain's items: an address. */
  readonly key: string;
  /** The column that ranks them, highest first. */
  readonly total: string;
  /** Keeps each change of the total: `chain_id`, the key, `observed_at`, the total, `page_id`. */
  readonly history: PgTable;
}

/** The table, its history and its columns as SQL. */
export const namesOf = ({ table, key, total, history }: RankedList) => ({
  table: sql.raw(tableName(table)),
  history: sql.raw(tableName(history)),
  key: sql.raw(`"${key}"`),
  total: sql.raw(`"${total}"`),
});

/** Why a walk that reached the list's end gives no ranking: the order changed meanwhile. */
export const rowsMoved = 'moved';

/**
 * Why no ranking was published: the service listed no item, time after time, though some are stored.
 * Contracts don't vanish; a service under repair answers so.
 */
export const listEmpty = 'empty';

/**
 * Why a walk that reached the list's end gives no ranking: the service skipped a part of the list, with an
 * empty page that leads on to what is below.
 */
export const partSkipped = 'skipped';

/**
 * How many walks a ranking takes at most. An order that never stands still would be read for ever;
 * a row that three walks missed is more likely gone than on the move each time.
 */
const walksAtMost = 3;

/**
 * Notes what a page of a ranking saw, so that a resumed ranking still knows its first pages, and what
 * of it shows that rows moved: an item met before, one with a higher total than the one above, or a page
 * that begins with another item than its cursor names. A cursor that names the one above is no sign.
 * The last one of a page again as the first of the next, unchanged, is how some services page.
 *
 * @returns true: what is stored of a ranking speaks against no page of another
 */
export async function noteRankingPage(
  list: RankedList,
  tx: Transaction,
  walk: WalkContext,
  rows: readonly ItemRows[],
): Promise<true> {
  const named = walk.cursor === null || !walk.isConclusive ? null : tokenAddress(walk.cursor);
  const entries = rows.map(({ key, row, position }, index) => ({
    key,
    total: row[list.total],
    position,
    is_other: index === 0 && named !== null && key !== named,
  }));
  await tx.execute(sql`
    with page as (
      select *
      from json_to_recordset(${JSON.stringify(entries)}::json)
        as entry(key text, position bigint, total bigint, is_other boolean)
    ), last as (
      select key, position, total
      from etl.ranking_entries
      where walk_id = ${walk.walk_id}
      order by position desc
      limit 1
    )
    insert into etl.ranking_entries (walk_id, key, position, total, has_moved)
    select ${walk.walk_id}::bigint, page.key, page.position, page.total,
           page.is_other and last.key is distinct from ${named} or coalesce(
             page.total
               > lag(page.total, 1, last.total) over (order by page.position),
             false
           ) or (
             met.walk_id is not null
             and (
               met.position < last.position
               or met.total is distinct from page.total
             )
           )
    from page
    left join last on true
    left join etl.ranking_entries as met
      on met.walk_id = ${walk.walk_id} and met.key = page.key
    on conflict (walk_id, key) do update
    set position = excluded.position,
        total = excluded.total,
        has_moved = ranking_entries.has_moved or excluded.has_moved
  `);
  return true;
}

/**
 * Ends a ranking that walked the whole list: publishes it, or asks for another walk where rows moved,
 * because one that moved up across the cursor was met by no page. The last walk is published anyway,
 * with a note, unless none of them met anybody. One that may have skipped a part of the list says less
 * than a whole list, and another would be served the same: nothing is published.
 *
 * @returns null when it was published; else why it was not
 */
export async function concludeRanking(
  list: RankedList,
  tx: Transaction,
  walk: WalkContext,
): Promise<string | null> {
  const { rows } = await tx.execute<{ walks: number }>(
    sql`
      select count(*)::int as walks from etl.walks
      where run_id = ${walk.run_id} and failure is distinct from 'truncated'
    `,
  );
  const walks = rows[0]?.walks ?? 1;
  const stillMoving = await showsMovement(list, tx, walk);
  if (await skippedPart(list, tx, walk)) return partSkipped;
  if (stillMoving && walks < walksAtMost) return rowsMoved;
  if (stillMoving && !(await metSomebody(tx, walk))) return listEmpty;
  await publishRanking(list, tx, walk, { walks, stillMoving });
  return null;
}

/** Whether any walk of the run met an item, or one that stands in quarantine. */
async function metSomebody(tx: Transaction, walk: WalkContext): Promise<boolean> {
  const { rows } = await tx.execute<{ somebody: boolean }>(sql`
    select exists (
      select from etl.ranking_entries join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id}
    ) or exists (
      select from etl.pages join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id} and pages.quarantined > 0
    ) as somebody
  `);
  return rows[0]?.somebody ?? false;
}

/**
 * Whether a walk shows that rows moved while it was under way, in what it met or in what it did not
 * meet. An item of the last ranking that two walks in a row did not meet has left the list: that
 * is no movement, or each one that leaves would cost a third walk. Nor are as many as stand in
 * quarantine: they may be those, and another walk would meet them no better.
 */
async function showsMovement(
  list: RankedList,
  tx: Transaction,
  walk: WalkContext,
): Promise<boolean> {
  const { table, key } = namesOf(list);
  const { rows } = await tx.execute<{ moved: boolean }>(sql`
    with before as (
      select key
      from etl.ranking_entries
      join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id} and walk_id <> ${walk.walk_id}
    ), expected as (
      select key from before
      union all
      select ${key}
      from ${table}
      where chain_id = ${walk.chain_id} and rank is not null and not exists (select from before)
    )
    select exists (
      select from etl.ranking_entries where walk_id = ${walk.walk_id} and has_moved
    ) or (
      select count(*)
      from (
        select key from expected
        except
        select key from etl.ranking_entries where walk_id = ${walk.walk_id}
      ) as unmet
    ) > (
      select coalesce(sum(quarantined), 0) from etl.pages where walk_id = ${walk.walk_id}
    ) as moved
  `);
  return rows[0]?.moved ?? false;
}

/** Where a token points to in the list, which is how the service parses it; as SQL. */
const positionOf = (cursor: 'cursor_in' | 'cursor_out') =>
  sql`lower(substring(${sql.raw(cursor)} ->> 'page_token' from '^\\d+,0x[0-9a-fA-F]{40}'))`;

/**
 * Whether a walk met an empty page that leads on, and nothing shows that no item stands in between:
 * neither a token of the same position, nor that all of the last ranking were met.
 */
async function skippedPart(list: RankedList, tx: Transaction, walk: WalkContext): Promise<boolean> {
  const { table, key } = namesOf(list);
  const { rows } = await tx.execute<{ skipped: boolean }>(sql`
    select exists (
      select from etl.pages
      where walk_id = ${walk.walk_id} and items = 0 and cursor_out is not null
        and (${positionOf('cursor_in')} = ${positionOf('cursor_out')}) is not true
    ) and (
      select coalesce(bool_or(entry.key is null), true)
      from ${table} as item
      left join etl.ranking_entries as entry
        on entry.walk_id = ${walk.walk_id} and entry.key = item.${key}
      where chain_id = ${walk.chain_id} and rank is not null
    ) as skipped
  `);
  return rows[0]?.skipped ?? false;
}

/** What is known of a ranking beside its entries. */
interface RankingFacts {
  /** How many walks it took. */
  readonly walks: number;
  /** Whether rows still moved during the last of them. */
  readonly stillMoving: boolean;
}

/** Each item that a walk of the run met, as the latest of them saw it. */
const latestObservations = (walk: WalkContext) => sql`
  select distinct on (key) key, walk_id, started_at, position, total
  from etl.ranking_entries
  join etl.walks on walks.id = walk_id
  where run_id = ${walk.run_id}
  order by key, walk_id desc
`;

/**
 * Publishes a ranking at once: ranks, who is missing, and a history row for each item whose total
 * changed. Readers see the whole ranking or the one before it. An item is missing only if no walk
 * of the run met it.
 */
async function publishRanking(
  list: RankedList,
  tx: Transaction,
  walk: WalkContext,
  facts: RankingFacts,
): Promise<void> {
  await publishRanks(list, tx, walk);
  await publishHistory(list, tx, walk);
  await recordRanking(tx, walk, facts);
  // Of other runs too: what an interrupted or a superseded ranking met is never published.
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (select feed from etl.walks where walks.id = walk_id) = ${walk.feed}
  `);
}

/**
 * By total; among equals as the service listed them, then those that only earlier walks met. While
 * an item of the run is in quarantine, no item becomes missing: it may be the one that was not met.
 */
async function publishRanks(list: RankedList, tx: Transaction, walk: WalkContext): Promise<void> {
  const { table, key } = namesOf(list);
  await tx.execute(sql`
    with ranked as (
      select key, row_number() over (
        order by total desc nulls last, walk_id desc, position
      ) as rank
      from (${latestObservations(walk)}) as observation
    ), observations as materialized (
      select not exists (
        select from etl.pages
        join etl.walks on walks.id = walk_id
        where run_id = ${walk.run_id} and pages.quarantined > 0
      ) as is_whole
    ), judged as (
      select item.${key} as key, ranked.rank,
             case
               when ranked.rank is not null then null
               when not (select is_whole from observations) then item.missing_since
               else coalesce(item.missing_since, now())
             end as missing_since
      from ${table} as item
      left join ranked on ranked.key = item.${key}
      where item.chain_id = ${walk.chain_id}
    )
    update ${table} as t
    set rank = judged.rank,
        missing_since = judged.missing_since,
        updated_at = now(),
        page_id = greatest(t.page_id, ${walk.page_id}::bigint)
    from judged
    where t.chain_id = ${walk.chain_id}
      and t.${key} = judged.key
      and (t.rank, t.missing_since) is distinct from (judged.rank, judged.missing_since)
  `);
}

/** A count that is missing, or of another type, is no change: a history would keep it for good. */
async function publishHistory(list: RankedList, tx: Transaction, walk: WalkContext): Promise<void> {
  const { history, key, total } = namesOf(list);
  await tx.execute(sql`
    insert into ${history} (chain_id, ${key}, observed_at, ${total}, page_id)
    select ${walk.chain_id}::bigint, observation.key, now(), observation.total,
           ${walk.page_id}::bigint
    from (${latestObservations(walk)}) as observation
    left join lateral (
      select ${total} as total
      from ${history}
      where chain_id = ${walk.chain_id} and ${key} = observation.key
      order by observed_at desc
      limit 1
    ) as last on true
    where observation.total is not null
      and last.total is distinct from observation.total
    order by observation.key
  `);
}

/** Keeps what `verify` says of the ranking: how much it holds, and as of when. */
async function recordRanking(
  tx: Transaction,
  walk: WalkContext,
  { walks, stillMoving }: RankingFacts,
): Promise<void> {
  await tx.execute(sql`
    insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
    select ${walk.walk_id}::bigint, ${walk.feed},
           coalesce(min(started_at), ${walk.started_at}::timestamptz), now(), count(*),
           ${walks}::int, ${stillMoving}
    from (${latestObservations(walk)}) as observation
  `);
}
