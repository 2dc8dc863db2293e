import { sql } from 'drizzle-orm';
import { type Database, type Queryable, type Transaction, hasRows } from '../../db/transaction.ts';
import { type Feed, type FeedLane, feedName, ofFeed } from '../feed.ts';
import type { Occasion, PlannedWalk, Target, WalkPlan } from '../list.ts';
import type { NewestFirstWalk } from '../operation.ts';
import { deepResweep, liveFloor, planAgain, planFallback, planResweep } from './deep-polls.ts';
import { gapsDue, planGap } from './gaps.ts';
import {
  boundsOf,
  isRange,
  isRunning,
  type NewestFirstRun,
  type NewestFirstScope,
  walksOf,
} from './run.ts';
import { planSplit } from './split.ts';

/** Reads from the head to the stop height, once a run, past known rows: others may be between. */
export async function planLiveWalk(
  tx: Transaction,
  run: NewestFirstRun,
  at: Date,
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  if ((await walksOf(tx, run)).length > 0) return null;
  const end = await liveFloor(tx, run, at);
  if (end === null) return null;
  return { scope: boundsOf(run), depthMs: end.depthMs, floor: end.floor, cursor: null };
}

/** Plans the whole list while nothing is covered; then deeper polls, gaps, parts of other walks. */
export async function planBackfillWalk(
  tx: Transaction,
  run: NewestFirstRun,
  at: Date,
): Promise<WalkPlan<NewestFirstWalk>> {
  const begun = await walksOf(tx, run);
  if (!(await hasCoverage(tx, run))) {
    if (begun.some(isRunning)) return 'wait';
    if (begun.length > 0) return null;
    // Of a list of which nothing is known, a range of blocks is a gap below its head.
    const scope = isRange(run.scope) ? { ...boundsOf(run), max_pages: 1 } : boundsOf(run);
    return { scope, floor: null, cursor: null };
  }
  if (run.scope.again === true && begun.length === 0) return planAgain(tx, run);
  const planned =
    (await planFallback(tx, run, begun)) ??
    (await planResweep(tx, run, begun, at)) ??
    (await planGap(tx, run, begun, at)) ??
    (await planSplit(tx, run, begun, at));
  // What the walks under way leave behind is not known yet.
  return planned ?? (begun.some(isRunning) ? 'wait' : null);
}

/** A live lane is due beside some history, but not on start; backfill, for gaps and refetches. */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NewestFirstScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const isBegun = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (!isBegun || scope.again === true || (await hasUnfinished(db, lane))) return true;
  if ((await deepResweep(db, lane, scope.resweep ?? [], at)) !== null) return true;
  const when = occasion === 'sync' ? 'at-once' : at;
  return (await gapsDue(db, { ...lane, scope, id: null }, when)).length > 0;
}

/** Whether anything of the feed is covered yet. */
const hasCoverage = (tx: Queryable, feed: Feed): Promise<boolean> =>
  hasRows(
    tx,
    sql`select from etl.walks where ${ofFeed(feed)} and top is not null order by top limit 1`,
  );

const hasUnfinished = (db: Database, lane: FeedLane): Promise<boolean> =>
  hasRows(
    db,
    sql`
      select from etl.walks as walk
      join etl.runs as run on run.id = walk.run_id and run.state in ('open', 'interrupted')
      where walk.feed = ${feedName(lane)} and walk.lane = ${lane.lane} and walk.state = 'running'
      limit 1
    `,
  );
