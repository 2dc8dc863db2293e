import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { gapsOf, hasCoverage } from './coverage.ts';
import { feedName, type FeedLane } from './feed.ts';
import { hasLiveLane } from './lanes.ts';

/** Why lanes are looked at: a person wants all current, a schedule ticked, or a process started. */
export type Occasion = 'sync' | 'tick' | 'start';

/**
 * Which of the lanes have something to do now. History is read where it is not covered, and only
 * there. A live lane is current only beside some history. On start, what has a schedule waits for
 * it, unless its feed never succeeded.
 */
export async function dueLanes<Target extends { readonly lane: FeedLane }>(
  db: Database,
  targets: readonly Target[],
  occasion: Occasion,
): Promise<Target[]> {
  const succeeded = occasion === 'start' ? await feedsWithSuccess(db) : new Set<string>();
  const due: Target[] = [];
  for (const target of targets) {
    const { lane } = target;
    if (await isDue(db, lane, occasion, succeeded.has(feedName(lane)))) due.push(target);
  }
  return due;
}

async function isDue(
  db: Database,
  lane: FeedLane,
  occasion: Occasion,
  hasSucceeded: boolean,
): Promise<boolean> {
  if (!hasLiveLane(lane.operation)) return occasion !== 'start' || !hasSucceeded;
  const isCovered = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isCovered;
  return !isCovered || (await gapsOf(db, lane)).length > 0;
}

async function feedsWithSuccess(db: Database): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ feed: string }>(
    sql`select feed from etl.feeds where last_success_at is not null`,
  );
  return new Set(rows.map(({ feed }) => feed));
}
