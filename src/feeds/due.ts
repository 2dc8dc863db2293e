import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { operations } from '../operations/index.ts';
import { historyOf } from './batches.ts';
import { frontierOf, ofFeed } from './begun.ts';
import { hasCoverage } from './coverage.ts';
import { feedName, type FeedLane } from './feed.ts';
import { isLookedAtLater } from './recover.ts';
import { hasReread, hasRested } from './reread.ts';
import { deepResweep } from './resweep.ts';
import { gapsDue } from './sweep.ts';
import type { TickScope } from './tables.ts';

/** Why lanes are looked at: a person wants all current, a schedule ticked, or a process started. */
export type Occasion = 'sync' | 'tick' | 'start';

interface Target {
  readonly lane: FeedLane;
  readonly scope: TickScope;
}

/**
 * Which of the lanes have something to do at a time. History is read where it is not covered, where
 * it is to be read again, and only there; batches that are not proved, and holes that stay because
 * the service breaks the order, are read again in growing intervals, or when a person asks. A live lane is current only beside some history. On start, what
 * has a schedule waits for it, unless its feed never succeeded.
 *
 * @param at the time of day, for what is due by an interval
 */
export async function dueLanes<Lane extends Target>(
  db: Database,
  targets: readonly Lane[],
  occasion: Occasion,
  at: Date,
): Promise<Lane[]> {
  const due: Lane[] = [];
  for (const target of targets) {
    if (await isDue(db, target, occasion, at)) due.push(target);
  }
  return due;
}

/** What a person asked for is read now, whatever its interval. */
export function atOnce({ lane, scope }: Target): TickScope {
  const hasIntervals = operations[lane.operation].kind !== 'census' && lane.lane === 'backfill';
  return hasIntervals ? { ...scope, at_once: true } : scope;
}

async function isDue(
  db: Database,
  { lane, scope }: Target,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  // What the explorer does not serve is looked at seldom, unless a person asks.
  if (occasion !== 'sync' && (await isLookedAtLater(db, lane))) return false;
  const { kind } = operations[lane.operation];
  if (kind === 'census') return occasion !== 'start' || !(await hasSucceeded(db, lane));
  if (kind === 'batch') return areBatchesDue(db, { lane, scope }, occasion, at);
  const isBegun = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (!isBegun || (await hasHistoryToRead(db, lane, scope, at))) return true;
  return (await gapsDue(db, lane, occasion === 'sync' ? 'at-once' : at, null)).length > 0;
}

async function areBatchesDue(
  db: Database,
  { lane, scope }: Target,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const frontier = await frontierOf(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && frontier !== null;
  const top = scope.to_batch ?? frontier;
  if (top === null) return occasion === 'sync' || hasSearchRested(db, lane, at);
  if (await hasUnread(db, lane, scope.from_batch ?? 1, top)) return true;
  const range = historyOf(lane.chain_id, scope, top);
  return hasReread(db, range, occasion === 'sync' ? 'at-once' : at);
}

/** A chain that showed no batch is searched again in growing intervals: a search is eight pages. */
async function hasSearchRested(db: Database, feed: FeedLane, at: Date): Promise<boolean> {
  const searches = sql`${ofFeed(feed)} and lane = 'backfill' and scope ? 'probe'`;
  const { rows } = await db.execute<{ rested: boolean }>(
    sql`select ${hasRested(searches, at)} as rested`,
  );
  return rows[0]?.rested ?? true;
}

/** What a person wants read again, walks that were begun and not ended, and deep resweeps. */
async function hasHistoryToRead(
  db: Database,
  lane: FeedLane,
  scope: TickScope,
  at: Date,
): Promise<boolean> {
  return (
    scope.again === true ||
    (await hasUnfinished(db, lane)) ||
    (await deepResweep(db, lane, scope.resweep ?? [], at)) !== null
  );
}

async function hasUnfinished(
  db: Database,
  { chain_id, operation, lane }: FeedLane,
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.walks as walk
    join etl.ticks as tick on tick.id = walk.tick_id and tick.state in ('open', 'interrupted')
    where walk.chain_id = ${chain_id} and walk.operation = ${operation} and walk.lane = ${lane}
      and walk.state = 'running'
    limit 1
  `);
  return rows.length > 0;
}

async function hasSucceeded(db: Database, feed: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where feed = ${feedName(feed)} and last_success_at is not null
  `);
  return rows.length > 0;
}

/** Whether a number of the range was never read to its end. */
async function hasUnread(
  db: Database,
  { chain_id }: FeedLane,
  from: number,
  to: number,
): Promise<boolean> {
  const { rows } = await db.execute<{ read: number }>(sql`
    select count(*)::float8 as read
    from explorer.optimism_batches
    where chain_id = ${chain_id} and batch_number between ${from} and ${to}
  `);
  return to - from + 1 > (rows[0]?.read ?? 0);
}
