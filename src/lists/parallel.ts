import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { feedName, ofFeed, type Feed } from './feed.ts';

/** Several walks of a feed run at once unless its settings say otherwise. */
const defaultParallel = 4;

/**
 * How many walks of a lane run at once, where more than one can.
 *
 * @throws when the feed was never registered
 */
export async function parallelOf(db: Pick<Database, 'execute'>, feed: Feed): Promise<number> {
  const { rows } = await db.execute<{ parallel: unknown }>(
    sql`select settings -> 'parallel' as parallel from etl.feeds where ${ofFeed(feed)}`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`feed ${feedName(feed)} is not registered`);
  return typeof row.parallel === 'number' ? row.parallel : defaultParallel;
}
