import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { operations } from '../operations/index.ts';
import { gapsOf, hasCoverage } from './coverage.ts';
import { feedName, type FeedLane } from './feed.ts';
import type { TickScope } from './tables.ts';

/** Why lanes are looked at: a person wants all current, a schedule ticked, or a process started. */
export type Occasion = 'sync' | 'tick' | 'start';

interface Target {
  readonly lane: FeedLane;
  readonly scope: TickScope;
}

/**
 * Which of the lanes have something to do now. History is read where it is not covered, and only
 * there. A live lane is current only beside some history. On start, what has a schedule waits for
 * it, unless its feed never succeeded.
 */
export async function dueLanes<Lane extends Target>(
  db: Database,
  targets: readonly Lane[],
  occasion: Occasion,
): Promise<Lane[]> {
  const due: Lane[] = [];
  for (const target of targets) {
    if (await isDue(db, target, occasion)) due.push(target);
  }
  return due;
}

async function isDue(db: Database, { lane, scope }: Target, occasion: Occasion): Promise<boolean> {
  const { kind } = operations[lane.operation];
  if (kind === 'census') return occasion !== 'start' || !(await hasSucceeded(db, lane));
  const isBegun = kind === 'sweep' ? await hasCoverage(db, lane) : await hasFrontier(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (kind === 'sweep') return !isBegun || (await gapsOf(db, lane)).length > 0;
  if (scope.only_unread !== true) return true;
  return (scope.to_batch === undefined && !isBegun) || hasUnread(db, lane, scope);
}

async function hasSucceeded(db: Database, feed: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where feed = ${feedName(feed)} and last_success_at is not null
  `);
  return rows.length > 0;
}

async function hasFrontier(db: Database, feed: FeedLane): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where feed = ${feedName(feed)} and frontier is not null
  `);
  return rows.length > 0;
}

/** Whether a number of the range was never read to its end. */
async function hasUnread(db: Database, feed: FeedLane, scope: TickScope): Promise<boolean> {
  const { rows } = await db.execute<{ unread: boolean }>(sql`
    with range as (
      select ${scope.from_batch ?? 1}::bigint as low,
             coalesce(${scope.to_batch ?? null}::bigint, frontier) as high
      from etl.feeds
      where feed = ${feedName(feed)}
    )
    select high - low + 1 > (
      select count(*) from explorer.optimism_batches
      where chain_id = ${feed.chain_id} and batch_number between low and high
    ) as unread
    from range
  `);
  return rows[0]?.unread ?? false;
}
