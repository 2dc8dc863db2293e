import type { Database } from '../db/transaction.ts';
import { feedReaches, registeredChains, type FeedReach } from './lane-status.ts';
import { estimateFeeds } from './plan/plan.ts';
import { feedsNow, type FeedNow, type LaneNow } from './lane-state.ts';

/** What of a lane is left to read, and when that ends at its present pace; null: not known. */
interface LaneOutlook {
  readonly left_requests: number | null;
  readonly ends_in_s: number | null;
  readonly ends_at: string | null;
}

/** What `status` says of a feed. */
export interface FeedReport extends Omit<FeedNow, 'lanes'>, Omit<FeedReach, 'feed'> {
  readonly lanes: readonly (LaneNow & LaneOutlook)[];
}

/** The report on every feed, from what is stored. */
export async function reportFeeds(db: Database, pageSize: number): Promise<FeedReport[]> {
  const at = new Date();
  const reaches = new Map((await feedReaches(db)).map((reach) => [reach.feed, reach]));
  const estimates = await estimateFeeds(db, await registeredChains(db), { pageSize, at });
  return (await feedsNow(db)).flatMap((current) => {
    const reach = reaches.get(current.feed);
    if (reach === undefined) return [];
    const left = estimates.find(({ feed }) => feed === current.feed)?.history.requests ?? null;
    const lanes = current.lanes.map((lane) => ({ ...lane, ...outlook(lane, left, at) }));
    return [{ ...current, ...reach, lanes }];
  });
}

/** History is what the backfill lane has left; what is new cannot be known beforehand. */
function outlook(
  { lane, state, pages_per_second: pace }: LaneNow,
  history: number | null,
  at: Date,
): LaneOutlook {
  const left_requests = lane === 'backfill' ? history : null;
  const isMoving = (state === 'running' || state === 'awaiting') && pace !== null && pace > 0;
  if (left_requests === null || !isMoving) {
    return { left_requests, ends_in_s: null, ends_at: null };
  }
  const seconds = Math.round(left_requests / pace);
  return {
    left_requests,
    ends_in_s: seconds,
    ends_at: new Date(at.getTime() + seconds * 1000).toISOString(),
  };
}
