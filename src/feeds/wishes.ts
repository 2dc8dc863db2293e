import type { Database } from '../db/transaction.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { Target } from '../lists/list.ts';

/**
 * Makes what is asked for what is wanted now: by the configuration, or by a command's flags where there
 * is none.
 */
export async function followWishes(db: Database, wishes: readonly Target[]): Promise<void> {
  for (const ofFeed of Map.groupBy(wishes, ({ lane }) => feedName(lane)).values()) {
    const [first] = ofFeed;
    if (first === undefined) continue;
    const scopes = ofFeed.map(({ scope }) => scope);
    await kindOf(first.lane.operation).followWishes(db, first.lane, scopes);
  }
}
