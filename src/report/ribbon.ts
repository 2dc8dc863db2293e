import { sql, type SQL } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { ListRibbon, RibbonFeed, RibbonWindow } from '../lists/ribbon.ts';
import type { RibbonPart } from './ribbon-state.ts';

/**
 * How the numbers of a window stand, in buckets. However many ranges there are, no more than some parts a bucket
 * come: disjoint ranges that cross its border are two at most of each state, and those within it are one part.
 */
export async function ribbonParts(
  db: Database,
  feed: RibbonFeed,
  list: ListRibbon,
  { window, buckets }: { readonly window: RibbonWindow; readonly buckets: number },
): Promise<RibbonPart[]> {
  const { from, to } = window;
  const bucket = (number: SQL) =>
    sql`((${number} - ${from}::bigint)::numeric * ${buckets} / ${to - from + 1}::bigint)`;
  const { rows } = await db.execute<Record<keyof RibbonPart, string>>(sql`
    with state as materialized (${list.states(feed, window)})
    select state, floor(${bucket(sql`low`)}) as first, floor(${bucket(sql`high`)}) as last,
           min(low) as "from", max(high) as "to", count(*) as pieces, sum(high - low + 1) as numbers
    from (
      select state, lower(range) as low, upper(range) - 1 as high
      from state,
           unnest(ranges * int8multirange(int8range(${from}::bigint, ${to}::bigint, '[]'))) as range
    ) as piece
    group by 1, 2, 3
    order by 4
  `);
  return rows.map((row) => ({
    // The statement names no other.
    state: row.state as RibbonPart['state'],
    first: Number(row.first),
    last: Number(row.last),
    from: Number(row.from),
    to: Number(row.to),
    pieces: Number(row.pieces),
    numbers: Number(row.numbers),
  }));
}
