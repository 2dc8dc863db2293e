import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { ofLane, type FeedLane } from '../feed.ts';
import type { Occasion, Target } from '../list.ts';
import { hasRested } from '../rest.ts';
import { latestBatchOf, hasUnread } from './walks.ts';
import { historyOf } from './plan.ts';
import { hasReread } from './reread.ts';
import type { NumberedScope } from './scope.ts';

/**
 * A live lane is current only if the latest batch is known; on start it waits for its schedule. Numbers that
 * are unread are history; those that are not verified are read again in growing intervals, or when a
 * person asks.
 */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NumberedScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const frontier = await latestBatchOf(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && frontier !== null;
  const top = scope.to_batch ?? frontier;
  if (top === null) return occasion === 'sync' || hasSearchRested(db, lane, at);
  if (await hasUnread(db, lane, scope.from_batch ?? 1, top)) return true;
  return hasReread(db, historyOf(lane, scope, top), occasion === 'sync' ? 'at-once' : at);
}

/** A chain that showed no batch is searched again in growing intervals: a search is eight pages. */
async function hasSearchRested(db: Database, lane: FeedLane, at: Date): Promise<boolean> {
  const searches = sql`${ofLane(lane)} and scope ? 'probe'`;
  const { rows } = await db.execute<{ rested: boolean }>(
    sql`select ${hasRested(searches, at)} as rested`,
  );
  return rows[0]?.rested ?? true;
}
