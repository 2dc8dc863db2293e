import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { ListRibbon, RibbonFeed, RibbonWindow } from '../lists/ribbon.ts';

/** The walks that bear out a segment, of those that were looked at. */
export interface SegmentWalks {
  readonly walks: number;
  /** More may bear it out than were looked at. */
  readonly isCut: boolean;
  readonly first: number;
  readonly last: number;
  readonly lanes: readonly string[];
  /** ISO 8601: when the oldest and the newest of them began. */
  readonly oldest: string;
  readonly newest: string;
}

/** A year of polls has 200,000 walks: of each segment those are looked at that begin closest above its start. */
const mostWalks = 200;

/** For each range the walks that prove a part of it, or read a batch of it; null: none was found. */
export async function walksOfSegments(
  db: Database,
  { feed }: RibbonFeed,
  { near, bears }: ListRibbon,
  ranges: readonly RibbonWindow[],
): Promise<readonly (SegmentWalks | null)[]> {
  if (ranges.length === 0) return [];
  const { rows } = await db.execute<{ walks: SegmentWalks | null }>(sql`
    select case when found.walks > 0 then json_build_object(
             'walks', found.walks, 'isCut', found.looked = ${mostWalks},
             'first', found.first, 'last', found.last, 'lanes', found.lanes,
             'oldest', found.oldest, 'newest', found.newest
           ) end as walks
    from unnest(
           ${sql.param(ranges.map(({ from }) => from))}::bigint[],
           ${sql.param(ranges.map(({ to }) => to))}::bigint[]
         ) with ordinality as segment(low, high, place),
    lateral (
      select count(*) as looked,
             count(*) filter (where ${bears}) as walks,
             min(id) filter (where ${bears}) as first,
             max(id) filter (where ${bears}) as last,
             array_agg(distinct lane) filter (where ${bears}) as lanes,
             min(started_at) filter (where ${bears}) as oldest,
             max(started_at) filter (where ${bears}) as newest
      from (
        select id, lane, state, proved, floor, bottom, started_at
        from etl.walks
        where feed = ${feed} and ${near}
        limit ${mostWalks}
      ) as near
    ) as found
    order by place
  `);
  return rows.map(({ walks }) => walks);
}
