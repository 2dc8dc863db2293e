import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RibbonFeed } from '../lists/ribbon.ts';

/**
 * Pages by the numbers that walks went over, of history where it was read: what a hole costs is reckoned by it.
 * Null: not known.
 */
export async function pagesPerNumber(db: Database, { feed }: RibbonFeed): Promise<number | null> {
  const { rows } = await db.execute<{ per_number: string | null }>(sql`
    select pages::float8 / spanned_blocks as per_number
    from etl.lane_sums
    where lane_sums.feed = ${feed} and spanned_blocks > 0 and pages > 0
    order by lane
    limit 1
  `);
  const found = rows[0]?.per_number ?? null;
  return found === null ? null : Number(found);
}
