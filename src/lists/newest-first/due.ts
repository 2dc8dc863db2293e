import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { feedName, type FeedLane } from '../feed.ts';
import type { Occasion, Target } from '../list.ts';
import { hasCoverage } from './coverage.ts';
import { wantedOf } from './entry.ts';
import { gapsDue } from './plan.ts';
import { deepResweep } from './resweep.ts';
import type { NewestFirstScope } from './scope.ts';

/**
 * A live lane is current only beside some history; on start it waits for its schedule. History is read
 * where it is not covered, where it is to be read again, and only there; gaps that stay because the
 * service breaks the order are read again in growing intervals, or when a person asks.
 */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NewestFirstScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const isBegun = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (!isBegun || (await hasHistoryToRead(db, lane, scope, at))) return true;
  const gaps = await gapsDue(db, lane, occasion === 'sync' ? 'at-once' : at, null);
  return gaps.some((gap) => wantedOf(gap, scope) !== null);
}

/** What a person wants read again, walks that were begun and not ended, and deep resweeps. */
async function hasHistoryToRead(
  db: Database,
  lane: FeedLane,
  scope: NewestFirstScope,
  at: Date,
): Promise<boolean> {
  return (
    scope.again === true ||
    (await hasUnfinished(db, lane)) ||
    (await deepResweep(db, lane, scope.resweep ?? [], at)) !== null
  );
}

async function hasUnfinished(db: Database, lane: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.walks as walk
    join etl.runs as run on run.id = walk.run_id and run.state in ('open', 'interrupted')
    where walk.feed = ${feedName(lane)} and walk.lane = ${lane.lane} and walk.state = 'running'
    limit 1
  `);
  return rows.length > 0;
}
