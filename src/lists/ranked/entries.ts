import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { PageInWalk, RankedOperation } from '../operation.ts';

/**
 * Notes what a page saw, and whether rows moved: an item met before, a higher total than above, or another first item than the
 * cursor names. Some services repeat the last item, or name it in the cursor: that is no sign.
 */
export async function noteRankingPage(
  list: RankedOperation,
  tx: Transaction,
  { walk, rows, isTopRead }: PageInWalk,
): Promise<void> {
  const { cursor } = walk;
  const { position: positionAt, total } = list.ranking;
  const named = cursor === null || !isTopRead ? null : (positionAt(cursor)?.key ?? null);
  const entries = rows.map(({ key, row, position }, index) => ({
    key,
    total: row[total],
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
}
